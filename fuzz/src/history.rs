//! Histories: what an owner holds, and what a client sends.

use antiphon::item::items_of;
use antiphon::{Body, FingerprintKey, HeldItem, Item, ItemId, Transcript};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::alphabet::{CALLS, id, put, text};

/// The key of all fingerprints here.
pub const KEY: FingerprintKey = FingerprintKey::new([2; 16]);

/// What an owner holds, some of it deleted, and what a client sends.
pub struct Exchange {
    /// What is held.
    pub transcript: Transcript,
    /// What comes.
    pub incoming: Vec<Item>,
}

impl Exchange {
    /// `{"held": [item], "incoming": [item]}`, or the compact form: how many items are held, those
    /// items, and what comes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.first() == Some(&b'{') {
            let lists: std::collections::HashMap<&str, &RawValue> =
                serde_json::from_slice(bytes).ok()?;
            let items =
                |name| items_of(&Bytes::copy_from_slice(lists.get(name)?.get().as_bytes())).ok();
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

/// A list of items: a JSON array, or the compact form.
#[must_use]
pub fn items(bytes: &[u8]) -> Vec<Item> {
    match bytes.first() {
        Some(b'[') => items_of(&Bytes::copy_from_slice(bytes)).unwrap_or_default(),
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

/// The bytes of an item in the compact form: what it is, its id, its `call_id`, what it says.
const ITEM: usize = 4;
/// The first byte of a held item that was deleted is not less.
const DELETED: u8 = 224;

fn compact(bytes: &[u8]) -> Vec<Item> {
    let items = bytes.chunks_exact(ITEM).map(|item| {
        let json = json_of([item[0], item[1], item[2], item[3]]).to_string();
        Item::parse(json.into()).expect("only items are made")
    });
    items.collect()
}

fn json_of([what, id_byte, call, says]: [u8; ITEM]) -> Value {
    let (kind, output, prefix) = CALLS[usize::from(call >> 5)];
    let mut item = match what % 16 {
        0..3 => message("user", says),
        3..6 => message("assistant", says),
        6 => message("system", says),
        7 => message("developer", says),
        8 | 9 => reasoning(says),
        10..12 => json!({"type": kind, "name": "f", "arguments": text(says)}),
        12..14 => json!({"type": output, "output": text(says), "status": null}),
        14 => json!({"type": "item_reference"}),
        _ => json!({"type": "web_search_call", "action": {"query": text(says)}}),
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

fn message(role: &str, says: u8) -> Value {
    let content = if says < 128 {
        json!(text(says))
    } else {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        json!([{"type": kind, "text": text(says)}])
    };
    json!({"type": "message", "role": role, "content": content})
}

fn reasoning(says: u8) -> Value {
    match says % 3 {
        0 => json!({"type": "reasoning", "summary": []}),
        1 => json!({"type": "reasoning", "summary": [], "encrypted_content": text(says)}),
        _ => json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"}),
    }
}
