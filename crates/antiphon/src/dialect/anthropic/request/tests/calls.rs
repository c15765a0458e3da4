//! Calls and their outputs.

use serde_json::{Value, json};

use super::{given, messages, send, text};
use crate::item::Item;
use crate::item::given::{bare_assistant, call, output, user};

fn tool_use(id: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "get_weather", "input": input})
}

fn tool_result(id: &str, content: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

/// The messages for the items after a first user message.
fn after_hi(items: &[Item]) -> Value {
    let mut all = vec![user("hi")];
    all.extend_from_slice(items);
    let mut messages = messages(&all);
    messages.as_array_mut().unwrap().remove(0);
    messages
}

#[test]
fn parallel_calls_and_outputs_are_two_messages() {
    let items = [
        bare_assistant("I look."),
        call("call_1", r#"{"city":"Bonn"}"#),
        call("call_2", r#"{"city":"Rome"}"#),
        output("call_1", "10"),
        output("call_2", "20"),
        bare_assistant("Warm."),
    ];
    let uses = [
        tool_use("call_1", &json!({"city": "Bonn"})),
        tool_use("call_2", &json!({"city": "Rome"})),
    ];
    let expected = json!([
        {"role": "assistant", "content": [text("I look."), uses[0], uses[1]]},
        {"role": "user", "content": [tool_result("call_1", "10"), tool_result("call_2", "20")]},
        {"role": "assistant", "content": [text("Warm.")]},
    ]);
    assert_eq!(after_hi(&items), expected);
}

#[test]
fn outputs_follow_order_of_calls() {
    let items =
        [call("call_1", "{}"), call("call_2", "{}"), output("call_2", "2"), output("call_1", "1")];
    let expected = json!([tool_result("call_1", "1"), tool_result("call_2", "2")]);
    assert_eq!(after_hi(&items)[1]["content"], expected);
}

#[test]
fn late_output_precedes_user_text() {
    let items = [
        call("call_1", "{}"),
        user("hurry"),
        bare_assistant("wait"),
        output("call_1", "1"),
        bare_assistant("Ah."),
    ];
    let expected = json!([
        {"role": "assistant", "content": [tool_use("call_1", &json!({}))]},
        {"role": "user", "content": [tool_result("call_1", "1"), text("hurry")]},
        {"role": "assistant", "content": [text("wait"), text("Ah.")]},
    ]);
    assert_eq!(after_hi(&items), expected);
}

#[test]
fn call_after_output_starts_new_message() {
    let items =
        [call("call_1", "{}"), output("call_1", "1"), call("call_2", "{}"), output("call_2", "2")];
    let expected = json!([
        {"role": "assistant", "content": [tool_use("call_1", &json!({}))]},
        {"role": "user", "content": [tool_result("call_1", "1")]},
        {"role": "assistant", "content": [tool_use("call_2", &json!({}))]},
        {"role": "user", "content": [tool_result("call_2", "2")]},
    ]);
    assert_eq!(after_hi(&items), expected);
}

#[test]
fn text_after_call_moves_before_it() {
    let items = [call("call_1", "{}"), bare_assistant("I look."), output("call_1", "1")];
    let expected = json!([text("I look."), tool_use("call_1", &json!({}))]);
    assert_eq!(after_hi(&items)[0]["content"], expected);
}

#[test]
fn reused_call_ids_are_made_unique() {
    let items = [
        call("call_0", r#"{"city":"Bonn"}"#),
        output("call_0", "10"),
        user("and Rome?"),
        call("call_0", r#"{"city":"Rome"}"#),
        call("call_0", r#"{"city":"Oslo"}"#),
        output("call_0", "20"),
        output("call_0", "0"),
    ];
    let messages = after_hi(&items);
    assert_eq!(messages[0]["content"], json!([tool_use("call_0", &json!({"city": "Bonn"}))]));
    assert_eq!(messages[1]["content"], json!([tool_result("call_0", "10"), text("and Rome?")]));
    let uses = json!([
        tool_use("call_0_2", &json!({"city": "Rome"})),
        tool_use("call_0_3", &json!({"city": "Oslo"})),
    ]);
    assert_eq!(messages[2]["content"], uses);
    let results = json!([tool_result("call_0_2", "20"), tool_result("call_0_3", "0")]);
    assert_eq!(messages[3]["content"], results);
}

#[test]
fn invalid_call_ids_are_replaced_on_both_sides() {
    let items = [
        call("call.1|a b", "{}"),
        call("call_1_a_b", "{}"),
        call("", "{}"),
        output("call.1|a b", "1"),
        output("call_1_a_b", "2"),
        output("", "3"),
    ];
    let messages = after_hi(&items);
    let ids = |message: usize, field: &str| -> Vec<String> {
        let blocks = messages[message]["content"].as_array().unwrap();
        blocks.iter().map(|block| block[field].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(0, "id"), ["call_1_a_b", "call_1_a_b_2", "call"]);
    assert_eq!(ids(1, "tool_use_id"), ids(0, "id"));
}

#[test]
fn call_ids_do_not_depend_on_later_items() {
    let mut items = vec![user("hi"), call("a b", "{}"), output("a b", "1")];
    let before = messages(&items);
    items.extend([call("a_b", "{}"), output("a_b", "2")]);
    let after = messages(&items);
    assert_eq!(after.as_array().unwrap()[..3], before.as_array().unwrap()[..]);
}

#[test]
fn arguments_keep_their_bytes() {
    let arguments = r#"{ "n": 1e2, "big": 9007199254740993, "a": "\u0041" }"#;
    let fields = crate::json::Object::parse(b"{}").unwrap();
    let items = [user("hi"), call("call_1", arguments), output("call_1", "1")];
    let origin = super::origin();
    let request = super::Request { fields: &fields, items: &items, origin: &origin };
    let body = super::encode(request).unwrap().body;
    assert!(std::str::from_utf8(&body).unwrap().contains(&format!(r#""input":{arguments}"#)));
}

#[test]
fn invalid_arguments_are_wrapped_and_reported() {
    for broken in [r#"{"city":"Bo"#, "7", "[1]", "null", "{} {}"] {
        let items = [user("hi"), call("call_1", broken), output("call_1", "1")];
        let sent = send(&json!({}), &items);
        let input = &sent.messages()[1]["content"][0]["input"];
        assert_eq!(input, &json!({"_raw": broken}), "{broken}");
        assert_eq!(sent.reported, ["input[1].arguments"], "{broken}");
    }
}

#[test]
fn call_without_arguments_has_empty_input() {
    for empty in ["", " ", "{}"] {
        let items = [call("call_1", empty), output("call_1", "1")];
        assert_eq!(after_hi(&items)[0]["content"][0]["input"], json!({}), "{empty}");
    }
}

#[test]
fn custom_tool_input_becomes_input_field() {
    let items = [
        given(&json!({"type": "custom_tool_call", "call_id": "c", "name": "sql",
            "input": "select \"1\""})),
        given(&json!({"type": "custom_tool_call_output", "call_id": "c", "output": "1"})),
    ];
    let expected =
        json!({"type": "tool_use", "id": "c", "name": "sql", "input": {"input": "select \"1\""}});
    let messages = after_hi(&items);
    assert_eq!(messages[0]["content"], json!([expected]));
    assert_eq!(messages[1]["content"], json!([tool_result("c", "1")]));
}

#[test]
fn output_holds_images_and_documents() {
    let parts = json!([
        {"type": "input_text", "text": "seen"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="},
        {"type": "input_file", "file_url": "https://example.com/a.pdf"},
    ]);
    let items = [
        call("call_1", "{}"),
        given(&json!({"type": "function_call_output", "call_id": "call_1", "output": parts})),
    ];
    let expected = json!([
        text("seen"),
        {"type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
    ]);
    assert_eq!(after_hi(&items)[1]["content"][0]["content"], expected);
}

#[test]
fn empty_output_has_no_content() {
    for output in [json!(""), json!([]), json!([{"type": "input_text", "text": ""}])] {
        let items = [
            call("call_1", "{}"),
            given(&json!({"type": "function_call_output", "call_id": "call_1", "output": output})),
        ];
        let expected = json!({"type": "tool_result", "tool_use_id": "call_1"});
        assert_eq!(after_hi(&items)[1]["content"], json!([expected]));
    }
}

#[test]
fn error_names_unsupported_part_of_output() {
    let parts = json!([{"type": "input_image", "file_id": "file_1"}]);
    let output = json!({"type": "function_call_output", "call_id": "call_1", "output": parts});
    let items = [user("hi"), call("call_1", "{}"), given(&output)];
    assert_eq!(super::refused(&json!({}), &items).0, "input[2].output[0]");
}

#[test]
fn unmatched_calls_and_outputs_are_left_out() {
    let items = [output("call_9", "9"), user("hi"), call("call_1", "{}"), user("well?")];
    let sent = send(&json!({}), &items);
    assert_eq!(sent.messages(), &json!([{"role": "user", "content": [text("hi"), text("well?")]}]));
    assert_eq!(sent.reported, ["input[0]", "input[2]"]);
}

#[test]
fn output_of_another_kind_is_left_out() {
    let custom = json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "1"});
    let items = [user("hi"), call("call_1", "{}"), given(&custom)];
    assert_eq!(send(&json!({}), &items).reported, ["input[1]", "input[2]"]);
}
