//! A chat keeps its content when it is converted in either direction and back.

use proptest::prelude::*;

use super::chats::{chats, items_of_chat, messages};
use super::*;
use crate::dialect::Request;
use crate::dialect::chat::encode;
use crate::item::{Item, given::item};
use crate::json::Object;

fn here() -> Origin {
    Origin::new(HERE)
}

fn to_messages(items: &[Item]) -> Value {
    let fields = Object::default();
    let request = Request { fields: &fields, items, origin: &here() };
    let encoded = encode(request).unwrap();
    assert!(encoded.omissions.is_empty(), "{:?}", encoded.omissions);
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    body["messages"].clone()
}

fn to_items(messages: &Value) -> Vec<Item> {
    parse_items(messages.to_string().as_bytes(), Some(&here())).unwrap()
}

/// An item, and the parsed text of its seal, because the order of keys does not matter.
fn without_seal(item: &Item) -> (Value, Option<Value>) {
    let mut value: Value = serde_json::from_str(item.text()).unwrap();
    let seal = value.as_object_mut().unwrap().remove("encrypted_content");
    let seal = seal.map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap());
    (value, seal)
}

proptest! {
    /// Messages to items to messages: the same JSON.
    #[test]
    fn messages_round_trip_to_the_same_json(chat in chats()) {
        let messages = messages(&chat);
        prop_assert_eq!(to_messages(&to_items(&messages)), messages);
    }

    /// Items to messages to items: the same except for ids.
    #[test]
    fn items_round_trip_with_the_same_content(chat in chats()) {
        let items: Vec<Item> =
            items_of_chat(&chat).iter().map(|value| item(value.to_string())).collect();
        let messages = to_messages(&items);
        prop_assert_eq!(&messages, &super::chats::messages(&chat));
        let back = to_items(&messages);
        prop_assert_eq!(
            back.iter().map(without_seal).collect::<Vec<_>>(),
            items.iter().map(without_seal).collect::<Vec<_>>()
        );
    }
}
