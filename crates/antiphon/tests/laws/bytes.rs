//! Input is sent on byte for byte.

use std::borrow::Cow;

use antiphon::item::{Fingerprint, FingerprintKey, parse_items};
use antiphon::json::{Object, quote, unquote};
use antiphon::{Head, Item};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

const KEY: FingerprintKey = FingerprintKey::new([5; 16]);

/// A JSON string, with the escapes of some writer.
fn string() -> impl Strategy<Value = String> {
    let plain = "[ -!#-\\[\\]-~é漢😀]{0,8}";
    let escaped = select(
        &[r"\n", r"\/", r#"\""#, r"\\", r"\u00e9", r"\ud83d\ude00", r"\u0000", r"\ud800"][..],
    );
    vec((plain, proptest::option::of(escaped)), 0..3).prop_map(|pieces| {
        let text = pieces.into_iter().map(|(plain, escape)| plain + escape.unwrap_or_default());
        format!("\"{}\"", text.collect::<String>())
    })
}

/// Numbers that change if they are parsed and written again.
fn number() -> impl Strategy<Value = String> {
    let numbers = [
        "0",
        "-0",
        "-0.0",
        "1e2",
        "1E+2",
        "1.0",
        "0.10",
        "9007199254740993",
        "18446744073709551616",
        "1e999",
        "-1e-999",
        "3.141592653589793238462643383279",
    ];
    select(numbers.map(str::to_owned).to_vec())
}

fn space() -> impl Strategy<Value = &'static str> {
    select(&["", "", "", " ", "\n\t", "\r\n  "][..])
}

/// Any JSON value, as text.
fn value() -> impl Strategy<Value = String> {
    let literal = select(&["null", "true", "false"][..]).prop_map(str::to_owned);
    let leaf = prop_oneof![number(), string(), literal];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let members = vec((key(), space(), inner.clone()), 0..4).prop_map(|members| {
            let members = members.into_iter();
            let members = members.map(|(key, space, value)| format!("{key}{space}:{space}{value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        });
        let elements = (vec(inner, 0..4), space()).prop_map(|(elements, space)| {
            format!("[{space}{}]", elements.join(&format!("{space},")))
        });
        prop_oneof![members, elements]
    })
}

fn key() -> impl Strategy<Value = String> {
    "[a-z_]{1,6}".prop_map(|name| format!("\"x_{name}\""))
}

/// An item with unknown fields, in any order and with any spacing.
fn item() -> impl Strategy<Value = String> {
    let known = select(
        &[
            r#""type":"message","role":"user""#,
            r#""role":"assistant","id":"msg_1""#,
            r#""type":"reasoning","id":"rs_1""#,
            r#""call_id":"call_1","type":"function_call","name":"f""#,
            r#""type":"acme:telemetry","status":null"#,
        ][..],
    );
    let fields = || vec((key(), value()), 0..4);
    let written = |fields: Vec<(String, String)>| -> Vec<String> {
        fields.into_iter().map(|(key, value)| format!("{key}:{value}")).collect()
    };
    (fields(), known, fields(), space()).prop_map(move |(before, known, behind, space)| {
        let fields = [written(before), vec![known.to_owned()], written(behind)].concat();
        format!("{{{space}{}{space}}}", fields.join(&format!("{space},")))
    })
}

proptest! {
    #[test]
    fn item_keeps_its_bytes(text in item()) {
        let item = Item::parse(text.clone().into()).unwrap();
        prop_assert_eq!(item.text(), &text);
        prop_assert_eq!(item.raw().as_ref(), text.as_bytes());
        prop_assert!(item.has_same_content(&item));
    }

    #[test]
    fn items_in_a_list_keep_their_bytes(texts in vec(item(), 0..4), space in space()) {
        let list = format!("{space}[{space}{}{space}]", texts.join(&format!("{space},{space}")));
        let items = parse_items(&list.into()).unwrap();
        let found: Vec<&str> = items.iter().map(Item::text).collect();
        prop_assert_eq!(found, texts);
    }

    #[test]
    fn parsed_object_is_written_unchanged(fields in vec((key(), value()), 0..6)) {
        let fields = fields.iter().map(|(key, value)| format!("{key}:{value}"));
        let fields: Vec<String> = fields.collect();
        let text = format!("{{{}}}", fields.join(","));
        prop_assert_eq!(Object::parse(text.as_bytes()).unwrap().to_text(), text);
    }

    #[test]
    fn setting_a_field_changes_no_other(text in item(), id in string()) {
        let id = unquote(&id).map_or_else(|| "msg_2".to_owned(), Cow::into_owned);
        let item = Item::parse(text.into()).unwrap();
        let changed = item.with(|object| object.set_string("id", &id));
        let (before, after) = (item.object(), changed.object());
        prop_assert_eq!(after.string("id"), Some(id.into()));
        let others = |object: &Object<'_>| -> Vec<(String, String)> {
            let fields = object.iter().filter(|(key, _)| *key != "id");
            fields.map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect()
        };
        prop_assert_eq!(others(&before), others(&after));
    }

    #[test]
    fn removing_a_field_keeps_the_others(text in item()) {
        let item = Item::parse(text.into()).unwrap();
        let mut object = item.object();
        object.set_first("x_new", "1e2");
        object.remove("x_new");
        let fields = |object: &Object<'_>| -> Vec<(String, String)> {
            object.iter().map(|(key, raw)| (key.to_owned(), raw.to_owned())).collect()
        };
        prop_assert_eq!(fields(&object), fields(&item.object()));
    }

    #[test]
    fn text_is_quoted_and_unquoted(text in any::<String>()) {
        let quoted = quote(&text);
        prop_assert_eq!(unquote(&quoted), Some(text.into()));
    }

    #[test]
    fn equal_texts_have_equal_fingerprints(text in any::<String>(), cut in any::<Index>()) {
        let cut = text.char_indices().map(|(at, _)| at).nth(cut.index(text.chars().count() + 1));
        let (head, tail) = text.split_at(cut.unwrap_or(text.len()));
        let (head, tail, whole) = (quote(head), quote(tail), quote(&text));
        let fingerprint = |content: String| {
            let text = format!(r#"{{"role":"user","content":{content}}}"#);
            Fingerprint::from_item(KEY, &Item::parse(text.into()).unwrap())
        };
        let part = |text: &str| format!(r#"{{"type":"input_text","text":{text}}}"#);
        let string = fingerprint(whole.clone());
        prop_assert_eq!(string, fingerprint(format!("[{}]", part(&whole))));
        prop_assert_eq!(string, fingerprint(format!("[{},{}]", part(&head), part(&tail))));
    }

    #[test]
    fn different_texts_have_different_fingerprints(one in any::<String>(), two in any::<String>()) {
        let fingerprint = |text: &str| {
            let text = format!(r#"{{"role":"user","content":{}}}"#, quote(text));
            Fingerprint::from_item(KEY, &Item::parse(text.into()).unwrap())
        };
        prop_assert_eq!(fingerprint(&one) == fingerprint(&two), one == two);
    }

    #[test]
    fn any_bytes_parse_or_fail(bytes in vec(any::<u8>(), 0..64)) {
        let _ = Head::parse(&bytes);
    }

    #[test]
    fn parsed_items_are_readable(
        text in item(),
        at in any::<Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(item) = Item::parse(bytes.into()) {
            prop_assert_eq!(item.text().as_bytes(), item.raw().as_ref());
            prop_assert!(item.has_same_content(&item));
            let _ = Fingerprint::from_item(KEY, &item);
        }
    }
}
