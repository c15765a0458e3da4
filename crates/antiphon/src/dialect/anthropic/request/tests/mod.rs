//! Requests for Anthropic. Expectations come from its documentation and the texts of its errors.

mod calls;
mod chats;
mod checker;
mod decoded;
mod instructions;
mod items;
mod laws;
mod messages;
mod options;
mod parts;
mod reasoning;
mod thinking;
mod tools;

use serde_json::{Value, json};

use super::encode;
use crate::dialect::request::{Request, Unsupported};
use crate::item::Item;
use crate::item::given::item;
use crate::json::Object;
use crate::transcript::Origin;

/// An encoded request, and the paths of its omissions and changes.
struct Sent {
    body: Value,
    reported: Vec<String>,
}

impl Sent {
    fn messages(&self) -> &Value {
        &self.body["messages"]
    }
}

fn origin() -> Origin {
    Origin::new("api.anthropic.com claude")
}

fn try_send(fields: &Value, items: &[Item]) -> Result<Sent, Unsupported> {
    let text = fields.to_string();
    let fields = Object::parse(text.as_bytes()).unwrap();
    let encoded = encode(Request { fields: &fields, items, origin: &origin() })?;
    let mut reported = Vec::new();
    for omission in encoded.omissions {
        let place = omission.place.to_string();
        assert!(omission.message.contains(&place), "{}", omission.message);
        assert!(omission.message.contains("Anthropic"), "{}", omission.message);
        reported.push(place);
    }
    Ok(Sent { body: serde_json::from_slice(&encoded.body).unwrap(), reported })
}

/// Encodes a request with these fields and items.
fn send(fields: &Value, items: &[Item]) -> Sent {
    try_send(fields, items).unwrap()
}

/// The messages for these items. Nothing is left out or changed.
fn messages(items: &[Item]) -> Value {
    let sent = send(&json!({}), items);
    assert_eq!(sent.reported, [""; 0]);
    sent.body["messages"].clone()
}

/// The path and the message of a rejection.
fn refused(fields: &Value, items: &[Item]) -> (String, String) {
    let error = try_send(fields, items).map(|sent| sent.body).unwrap_err();
    assert!(error.message.contains("Anthropic"), "{}", error.message);
    (error.place.to_string(), error.message)
}

fn given(item_: &Value) -> Item {
    item(item_.to_string())
}

/// A user message with these parts.
fn user_of(parts: &Value) -> Item {
    given(&json!({"type": "message", "role": "user", "content": parts}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
