//! The output items.

use antiphon_mock::judge::validate;
use antiphon_mock::{Answer, encrypted_content};
use serde_json::{Value, json};

use crate::{events, full_answer, names};

#[test]
fn items_open_empty_and_close_with_the_same_id() {
    let answer = full_answer();
    let all = events(&answer);
    let of = |name: &str| -> Vec<Value> {
        let matching = all.iter().filter(|event| event["type"] == name);
        matching.map(|event| event["item"].clone()).collect()
    };
    let (added, done) = (of("response.output_item.added"), of("response.output_item.done"));
    assert_eq!(done, answer.output());
    assert_eq!(json!(done), answer.json()["output"]);
    let prefixes = ["rs_", "fc_", "ctc_", "msg_", "msg_"];
    for ((opened, closed), prefix) in added.iter().zip(&done).zip(prefixes) {
        assert_eq!(opened["id"], closed["id"]);
        assert!(closed["id"].as_str().unwrap().starts_with(prefix));
    }
    assert_eq!(added[0]["summary"], json!([]));
    assert_eq!(added[1]["arguments"], "");
    assert_eq!(added[3]["content"], json!([]));
    assert!(added[1..].iter().all(|item| item["status"] == "in_progress"));
    assert!(done[1..].iter().all(|item| item["status"] == "completed"));
}

#[test]
fn ids_differ_unless_seeded() {
    let answer = || Answer::new("fake-model").message("Hi");
    assert_ne!(answer().output()[0]["id"], answer().output()[0]["id"]);
    assert_ne!(answer().response_id(), answer().response_id());
    assert_eq!(answer().seed("s").output(), answer().seed("s").output());
    let named = answer().with_id("msg_mine").output();
    assert_eq!(named[0]["id"], "msg_mine");
}

#[test]
fn reasoning_has_encrypted_content_for_its_id() {
    let sealed = Answer::new("fake-model").reasoning("Hm").with_id("rs_1").message("Hi");
    let own = encrypted_content("fake-model", "rs_1");
    assert_eq!(sealed.output()[0]["encrypted_content"], own.as_str());
    assert!(own.starts_with("gAAA"));
    let bare = sealed.without_encrypted_content().output();
    assert_eq!(bare[0].get("encrypted_content"), None);
}

#[test]
fn reasoning_without_a_summary_has_no_parts() {
    let answer = Answer::new("fake-model").reasoning("").message("Hi");
    assert_eq!(answer.output()[0]["summary"], json!([]));
    assert!(!names(&answer).iter().any(|name| name.contains("summary")));
}

#[test]
fn answer_items_can_be_replayed() {
    let mut input = vec![json!({"role": "user", "content": "hi"})];
    input.extend(full_answer().output());
    input.push(json!({"type": "function_call_output", "call_id": "call_1", "output": "a b"}));
    input.push(json!({"type": "custom_tool_call_output", "call_id": "call_2", "output": "a b"}));
    let body = json!({"model": "fake-model", "store": false, "input": input,
        "include": ["reasoning.encrypted_content"]});
    assert_eq!(validate(&body), Ok(()));
}
