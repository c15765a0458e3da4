//! Bytes as a list of items and as one item: parsed completely or refused, and written unchanged.
#![no_main]

use antiphon::item::{Fingerprint, FingerprintKey, parse_items};
use antiphon::json::Object;
use antiphon::{Head, Item, Role};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const KEY: FingerprintKey = FingerprintKey::new([1; 16]);

fuzz_target!(|bytes: &[u8]| {
    let text = Bytes::copy_from_slice(bytes);
    if let Ok(items) = parse_items(&text) {
        for item in &items {
            assert_is_slice(&text, item);
            check(item);
        }
    }
    if let Ok(item) = Item::parse(text) {
        check(&item);
    }
});

fn assert_is_slice(text: &Bytes, item: &Item) {
    let (text, item) = (text.as_ptr_range(), item.raw().as_ptr_range());
    assert!(text.start <= item.start && item.end <= text.end, "a body was copied");
}

fn check(item: &Item) {
    assert_eq!(item.text().as_bytes(), item.raw().as_ref());
    assert_eq!(Head::parse(item.raw()).as_ref(), Ok(item.head()));
    assert!(item.has_same_content(item), "an item has the same content as itself");
    let is_message = item.head().role.is_some();
    assert_eq!(Fingerprint::from_item(KEY, item).is_some(), is_message || is_message_kind(item));
    object_is_written_as_read(item);
    head_is_what_the_json_says(item);
    a_new_id_changes_no_other_field(item);
}

fn is_message_kind(item: &Item) -> bool {
    item.head().kind.as_str() == "message"
}

fn fields(object: &Object<'_>) -> Vec<(String, String)> {
    object.iter().map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect()
}

fn object_is_written_as_read(item: &Item) {
    let written = item.object().to_bytes();
    let again = Object::parse(&written).expect("written JSON can be parsed");
    assert_eq!(fields(&again), fields(&item.object()));
    assert_eq!(again.to_bytes(), written, "writing is stable");
}

/// Compares with the parse as a tree of values, if that exists: a tree loses large numbers and lone
/// surrogates.
fn head_is_what_the_json_says(item: &Item) {
    let Ok(json) = serde_json::from_slice::<Value>(item.raw()) else { return };
    let head = item.head();
    if let Some(kind) = json["type"].as_str() {
        assert_eq!(head.kind.as_str(), kind);
    }
    if head.kind.as_str() == "message" {
        assert_eq!(head.role, json["role"].as_str().map(Role::parse));
    }
    // The `call_id` of a local shell's output may be in `id`.
    if head.kind.as_str() != "local_shell_call_output" {
        let id = json["id"].as_str().filter(|id| !id.is_empty());
        assert_eq!(head.id.as_ref().map(antiphon::ItemId::as_str), id);
    }
    let unfinished = matches!(json["status"].as_str(), Some("in_progress" | "incomplete"));
    assert_eq!(head.unfinished, unfinished);
}

fn a_new_id_changes_no_other_field(item: &Item) {
    let renamed = item.with(|object| object.set_string("id", "msg_new"));
    let others = |item: &Item| -> Vec<(String, String)> {
        fields(&item.object()).into_iter().filter(|(key, _)| key != "id").collect()
    };
    assert_eq!(others(&renamed), others(item));
}
