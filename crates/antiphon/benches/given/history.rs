//! Histories of an agent that reasons and calls functions. Items have about a kilobyte each.

use std::borrow::Cow;

use antiphon::dialect::{Dialect, Seal};
use antiphon::item::parse_items;
use antiphon::transcript::Origin;
use antiphon::{FingerprintKey, HeldItem, Item, ItemId, Transcript};
use bytes::Bytes;
use serde_json::{Value, json};

use super::words::Words;

pub(crate) const KEY: FingerprintKey = FingerprintKey::new([9; 16]);

/// The first `count` items of an agent's run. Items of the model have ids, the others do not, as
/// most clients send them.
pub(crate) fn agent_run(count: usize) -> Vec<Item> {
    let texts = (0..count).map(|position| json_at(position).to_string());
    read(&texts.collect::<Vec<_>>())
}

/// The same run, from a client that rewrites all JSON: with other bytes and fewer fields.
fn rewritten_run(count: usize) -> Vec<Item> {
    let texts = (0..count).map(|position| {
        let mut json = json_at(position);
        if let Some(fields) = json.as_object_mut() {
            fields.remove("status");
        }
        format!("{json:#}")
    });
    read(&texts.collect::<Vec<_>>())
}

fn read(texts: &[String]) -> Vec<Item> {
    parse_items(&format!("[{}]", texts.join(",")).into()).expect("these are items")
}

/// A turn has eight items: a question, two rounds of reasoning, call and output, and an answer.
fn json_at(position: usize) -> Value {
    let mut words = Words::new(position + 1);
    match position % 8 {
        0 => json!({"role": "user", "content": words.prose(600)}),
        1 | 4 => json!({"id": format!("rs_{position:032x}"), "type": "reasoning", "summary": [],
            "encrypted_content": words.base64(1000)}),
        2 | 5 => json!({"id": format!("fc_{position:032x}"), "type": "function_call",
            "status": "completed", "call_id": format!("call_{position:024x}"), "name": "search",
            "arguments": json!({"query": words.prose(160), "limit": 20}).to_string()}),
        3 | 6 => json!({"type": "function_call_output", "output": words.prose(2000),
            "call_id": format!("call_{:024x}", position - 1)}),
        _ => json!({"id": format!("msg_{position:032x}"), "type": "message", "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "annotations": [],
            "logprobs": [], "text": words.prose(1000)}]}),
    }
}

/// The same run, with reasoning that an upstream of this dialect sealed.
pub(crate) fn sealed_run(dialect: Dialect, count: usize) -> Vec<Item> {
    let seal = |item: Item| {
        item.with(|object| {
            if let Some(thought) = object.string("encrypted_content").map(Cow::into_owned) {
                object.set_string("encrypted_content", &sealed(dialect, &thought).to_text());
            }
        })
    };
    agent_run(count).into_iter().map(seal).collect()
}

fn sealed(dialect: Dialect, thought: &str) -> Seal {
    let content = match dialect {
        Dialect::Chat => json!({"reasoning_content": thought}),
        _ => json!({"type": "thinking", "thinking": "", "signature": thought}),
    };
    Seal { dialect, origin: Origin::new(ORIGIN), content: content.to_string() }
}

/// The origin of the upstream.
pub(crate) const ORIGIN: &str = "up m-1";

/// The items as the JSON array that a request carries.
pub(crate) fn list_of(items: &[Item]) -> Bytes {
    let texts: Vec<&str> = items.iter().map(Item::text).collect();
    format!("[{}]", texts.join(",")).into()
}

/// The items of a broken run: the output of each first round is missing, and each second round
/// occurs twice.
pub(crate) fn broken(items: &[Item]) -> Vec<Item> {
    let is_lost = |position: usize| position % 8 == 3;
    let is_repeated = |position: usize| matches!(position % 8, 5 | 6);
    let items = items.iter().enumerate().filter(|(position, _)| !is_lost(*position));
    let copies = items.flat_map(|(position, item)| {
        std::iter::repeat_n(item.clone(), 1 + usize::from(is_repeated(position)))
    });
    copies.collect()
}

/// The items of a state owner, and an input.
pub(crate) struct Turn {
    /// The stored items.
    pub(crate) held: Vec<HeldItem>,
    /// The stored items as a transcript.
    pub(crate) transcript: Transcript,
    /// The input that the client sends.
    pub(crate) incoming: Vec<Item>,
}

impl Turn {
    /// A client that sends all stored items and a new message.
    pub(crate) fn full_replay(count: usize) -> Self {
        Self::replay(count, agent_run(count))
    }

    /// A client that sends all stored items with rewritten JSON, and a new message.
    pub(crate) fn rewritten_replay(count: usize) -> Self {
        Self::replay(count, rewritten_run(count))
    }

    /// A client that sends one message to a conversation of `count` items.
    pub(crate) fn delta(count: usize) -> Self {
        Self::new(&agent_run(count), vec![Self::new_message()])
    }

    /// A client that sends all items to an owner that stores none.
    pub(crate) fn stateless(count: usize) -> Self {
        Self::new(&[], agent_run(count))
    }

    fn replay(count: usize, mut incoming: Vec<Item>) -> Self {
        incoming.push(Self::new_message());
        Self::new(&agent_run(count), incoming)
    }

    fn new(held: &[Item], incoming: Vec<Item>) -> Self {
        let held: Vec<HeldItem> = held.iter().enumerate().map(hold).collect();
        Self { transcript: held.iter().cloned().collect(), held, incoming }
    }

    fn new_message() -> Item {
        Item::parse(r#"{"role":"user","content":"And tomorrow?"}"#.into()).expect("it is an item")
    }
}

fn hold((position, item): (usize, &Item)) -> HeldItem {
    let issued = || ItemId::from(format!("msg_{position:048x}"));
    let id = item.head().id.clone().unwrap_or_else(issued);
    HeldItem::new(id, item, KEY, None)
}
