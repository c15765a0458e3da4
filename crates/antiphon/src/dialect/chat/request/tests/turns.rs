//! The assistant's messages.

use super::*;

#[test]
fn assistant_text_is_a_string() {
    assert_eq!(
        messages(&json!([assistant("Hello.")])),
        json!([{"role": "assistant",
            "content": "Hello."}])
    );
}

#[test]
fn refusal_has_its_own_field() {
    let refusal = json!({"type": "message", "role": "assistant", "id": "msg_1",
        "status": "completed", "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let expected = json!([{"role": "assistant", "content": null, "refusal": "I cannot."}]);
    assert_eq!(messages(&json!([refusal])), expected);
}

#[test]
fn text_and_calls_become_one_message() {
    let expected = json!([user("go"), {"role": "assistant", "content": "Looking.",
        "tool_calls": [called("call_1", "{}"), called("call_2", "{\"n\":2}")]},
        tool("call_1", "1"), tool("call_2", "2")]);
    let (one, two) = (call("call_1", "{}"), call("call_2", "{\"n\":2}"));
    let outputs = [output("call_1", "1"), output("call_2", "2")];
    for turn in [
        [assistant("Looking."), one.clone(), two.clone()],
        [one.clone(), assistant("Looking."), two.clone()],
        [one.clone(), two.clone(), assistant("Looking.")],
    ] {
        let input = [vec![user("go")], turn.to_vec(), outputs.to_vec()].concat();
        assert_eq!(messages(&json!(input)), expected);
    }
}

#[test]
fn texts_of_one_turn_are_joined() {
    let input = json!([assistant("First."), assistant("Second.")]);
    let expected = json!([{"role": "assistant", "content": "First.\n\nSecond."}]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn text_after_output_starts_new_message() {
    let input = json!([call("call_1", "{}"), output("call_1", "1"), assistant("Done.")]);
    let expected = json!([{"role": "assistant", "content": null,
        "tool_calls": [called("call_1", "{}")]}, tool("call_1", "1"),
        {"role": "assistant", "content": "Done."}]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn empty_text_with_calls_becomes_null() {
    let input = json!([assistant(""), call("call_1", "{}"), output("call_1", "1")]);
    assert_eq!(messages(&input)[0]["content"], Value::Null);
    assert_eq!(messages(&json!([assistant("")])), json!([{"role": "assistant", "content": ""}]));
}

#[test]
fn custom_tool_call_keeps_its_type() {
    let input = json!([{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "run", "input": "ls -l"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "total 0"}]);
    let expected = json!([{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1",
        "type": "custom", "custom": {"name": "run", "input": "ls -l"}}]},
        tool("call_1", "total 0")]);
    assert_eq!(messages(&input), expected);
}

#[test]
fn arguments_keep_their_bytes() {
    let raw = concat!(
        r#"{"type":"function_call","call_id":"c\u0031","name":"f","#,
        r#""arguments":"{\"\u00fc\": 1e2 }"}"#,
    );
    let encoded = tried(&json!({"model": "m"}), &[item(raw)]).unwrap();
    let body = std::str::from_utf8(&encoded.body).unwrap();
    assert!(body.contains(r#"{"name":"f","arguments":"{\"\u00fc\": 1e2 }"}"#), "{body}");
    assert!(body.contains(r#""id":"c\u0031""#), "{body}");
}

#[test]
fn call_without_name_or_id_is_rejected() {
    let nameless = json!([{"type": "function_call", "call_id": "call_1", "arguments": "{}"}]);
    assert_eq!(refused_at(&nameless), "input[0].name");
    let anonymous = json!([{"type": "function_call", "name": "f", "arguments": "{}"}]);
    assert_eq!(refused_at(&anonymous), "input[0].call_id");
}

#[test]
fn long_call_id_is_shortened_on_both_sides() {
    let long = "x".repeat(64);
    let sent = messages(&json!([call(&long, "{}"), output(&long, "1")]));
    let id = sent[0]["tool_calls"][0]["id"].as_str().unwrap_or_default();
    assert!(id.chars().count() <= 40, "{id}");
    assert_eq!(sent[1]["tool_call_id"], id);
}
