//! Errors about invalid arguments, and texts that only Rust represents.

use antiphon_surface::{
    Conversion, InvalidArgument, RepairError, RepairedItem, Tracker, check, policy, reconcile,
    repair,
};
use bytes::Bytes;

const NO_ITEMS: Bytes = Bytes::from_static(b"[]");

fn parse_error(text: &'static str) -> InvalidArgument {
    check(&Bytes::from_static(text.as_bytes()), None)
        .expect_err("the argument is not a list of items")
}

#[test]
fn invalid_json_is_reported_with_its_place() {
    let sentence = "items: expected an array of items: EOF while parsing a list at line 1 column 1";
    assert_eq!(parse_error("[").to_string(), sentence);
    assert_eq!(parse_error("[").position(), None);
    assert!(check(&Bytes::from_static(b"[\"\xff\"]"), None).is_err());
}

#[test]
fn object_is_not_a_list() {
    assert!(
        parse_error(r#"{"input":[]}"#)
            .to_string()
            .starts_with("items: expected an array of items: ")
    );
}

#[test]
fn invalid_item_is_reported_with_its_position() {
    assert_eq!(parse_error(r#"[{"role":"user","content":"hi"},7]"#).position(), Some(1));
}

#[test]
fn error_names_the_argument() {
    let held = Bytes::from_static(b"7");
    assert_eq!(check(&NO_ITEMS, Some(&held)).unwrap_err().argument, "held");
    assert_eq!(reconcile(&held, &NO_ITEMS).unwrap_err().argument, "held");
    let refused = repair(&NO_ITEMS, Some(&held), "").unwrap_err();
    assert!(matches!(
        refused,
        RepairError::InvalidArgument(InvalidArgument { argument: "held", .. })
    ));
}

#[test]
fn unknown_policy_error_lists_the_policies() {
    assert_eq!(
        policy("calls=keep").unwrap_err().to_string(),
        "policy: 'calls=keep' is unknown; use repair, drop, reject, or a comma-separated list of \
         calls=answer|drop|reject, reasoning=drop|reject, outputs=drop|keep|reject, \
         references=keep|drop|reject, answers=keep|drop, \
         ids=add|drop|reject"
    );
}

/// The packages' languages read this number as infinity, which JSON cannot express.
#[test]
fn numbers_beyond_a_double_are_kept() {
    assert_kept(r#""n":[1e400,-1e400]"#);
}

#[test]
fn repeated_fields_are_kept() {
    assert_kept(r#""x":1,"x":2"#);
}

/// The repair removes the id of an item, and keeps its other fields as they are.
fn assert_kept(fields: &str) {
    let item =
        |id: &str| format!(r#"{{"type":"message",{id}"role":"user","content":"hi",{fields}}}"#);
    let list = Bytes::from(format!("[{}]", item(r#""id":"item_abc","#)));
    let repaired = repair(&list, None, "").expect("the default policy repairs every list");
    let [RepairedItem::Changed(text)] = repaired.items.as_slice() else {
        panic!("one item is changed: {:?}", repaired.items);
    };
    assert_eq!(text.get(), item(""));
    assert_eq!(repaired.repairs[0].action, Some("id_removed"));
}

#[test]
fn conflicting_options_are_named() {
    let received =
        |options| Tracker::new(options).map(|_| ()).expect_err("the options conflict").to_string();
    let chain = r#"{"conversation":"conv_1","previous_response_id":"resp_1"}"#;
    assert_eq!(received(chain), "conversation cannot be combined with previous_response_id");
    let session = received(r#"{"conversation":"conv_1","session":true}"#);
    assert!(session.contains("unknown field `session`"), "{session}");
}

#[test]
fn invalid_conversion_is_refused() {
    let refused = |from, to, request: Option<&'static str>, names| {
        let request = request.map(|text| Bytes::from_static(text.as_bytes()));
        let conversion = Conversion::new(from, to, request.as_ref(), names, 0);
        conversion.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let unknown = "from: 'ollama' is none of 'responses', 'chat', 'anthropic' and 'ai-sdk'";
    assert_eq!(refused("ollama", "responses", None, None), unknown);
    let not_written = "to: cannot convert to 'ai-sdk'; use responses, chat or anthropic";
    assert_eq!(refused("chat", "ai-sdk", None, None), not_written);
    let names = "event_names: 'azure' is unknown; use openai or open-responses";
    assert_eq!(refused("ai-sdk", "responses", None, Some("azure")), names);
    let request = refused("ai-sdk", "responses", Some("[]"), None);
    assert!(request.starts_with("request: not a JSON object: "), "{request}");
}
