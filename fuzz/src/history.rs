//! Histories: the stored items of an owner and the items from a client.

use antiphon::item::parse_items;
use antiphon::{Body, FingerprintKey, HeldItem, Item, ItemId, Transcript};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::alphabet::{CALLS, id, one_of, put, text};

/// The key of all fingerprints.
pub const KEY: FingerprintKey = FingerprintKey::new([2; 16]);

/// The stored items of an owner, some of them deleted, and the items from a client.
pub struct Exchange {
    /// The stored items.
    pub transcript: Transcript,
    /// The items from the client.
    pub incoming: Vec<Item>,
}

impl Exchange {
    /// Parses `{"held": [item], "incoming": [item]}`, or the compact form: the number of stored
    /// items, these items, and the items from the client.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.first() == Some(&b'{') {
            let lists: std::collections::HashMap<&str, &RawValue> =
                serde_json::from_slice(bytes).ok()?;
            let items =
                |name| parse_items(&Bytes::copy_from_slice(lists.get(name)?.get().as_bytes())).ok();
            return Some(Self {
                transcript: held(items("held")?, |_| false),
                incoming: items("incoming")?,
            });
        }
        let (count, items) = bytes.split_first()?;
        let at = (usize::from(*count) * ITEM).min(items.len() / ITEM * ITEM);
        let (kept, sent) = items.split_at(at);
        let is_deleted = |position: usize| kept[position * ITEM] >= DELETED;
        Some(Self { transcript: held(compact(kept), is_deleted), incoming: compact(sent) })
    }
}

/// Parses a list of items: a JSON array, or the compact form.
#[must_use]
pub fn items(bytes: &[u8]) -> Vec<Item> {
    match bytes.first() {
        Some(b'[') => parse_items(&Bytes::copy_from_slice(bytes)).unwrap_or_default(),
        _ => compact(bytes),
    }
}

fn held(items: Vec<Item>, is_deleted: impl Fn(usize) -> bool) -> Transcript {
    let hold = |(position, item): (usize, Item)| {
        let issued = || ItemId::from(format!("issued_{position}"));
        let id = item.head().id.clone().unwrap_or_else(issued);
        let held = HeldItem::new(id, &item, KEY, None);
        match is_deleted(position) {
            true => HeldItem { body: Body::Erased, ..held },
            false => held,
        }
    };
    items.into_iter().enumerate().map(hold).collect()
}

/// The bytes of an item in the compact form: type, id, `call_id`, text.
const ITEM: usize = 4;
/// The first byte of a deleted item is at least this.
const DELETED: u8 = 224;

fn compact(bytes: &[u8]) -> Vec<Item> {
    let items = bytes.chunks_exact(ITEM).map(|item| {
        let json = json_of([item[0], item[1], item[2], item[3]]).to_string();
        Item::parse(json.into()).expect("only items are made")
    });
    items.collect()
}

fn json_of([what, id_byte, call, text_id]: [u8; ITEM]) -> Value {
    let (kind, output, prefix) = one_of(&CALLS, call >> 4);
    let mut item = match what % 16 {
        0..3 => message("user", text_id),
        3..6 => message("assistant", text_id),
        6 => message("system", text_id),
        7 => message("developer", text_id),
        8 | 9 => reasoning(text_id),
        10..12 => json!({"type": kind, "name": "f", "arguments": text(text_id)}),
        12..14 => json!({"type": output, "output": text(text_id), "status": null}),
        14 => json!({"type": "item_reference"}),
        _ => json!({"type": "web_search_call", "action": {"query": text(text_id)}}),
    };
    let (prefix, carries_call_id) = match what % 16 {
        0..8 => ("msg", false),
        8 | 9 => ("rs", false),
        10..14 => (prefix, true),
        14 => (["msg", "rs", "fc", "issued"][usize::from(call) % 4], false),
        _ => ("ws", false),
    };
    put(&mut item, "id", id(prefix, id_byte));
    if what % 16 == 14 && item.get("id").is_none() {
        item["id"] = "msg_1".into();
    }
    if carries_call_id {
        let field =
            if output == "mcp_approval_response" { "approval_request_id" } else { "call_id" };
        put(&mut item, field, id("call", call.wrapping_mul(7)));
    }
    item
}

fn message(role: &str, text_id: u8) -> Value {
    let content = if text_id < 128 {
        json!(text(text_id))
    } else {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        json!([{"type": kind, "text": text(text_id)}])
    };
    json!({"type": "message", "role": role, "content": content})
}

fn reasoning(text_id: u8) -> Value {
    match text_id % 3 {
        0 => json!({"type": "reasoning", "summary": []}),
        1 => json!({"type": "reasoning", "summary": [], "encrypted_content": text(text_id)}),
        _ => json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}),
    }
}
