//! Invalid histories.

use super::*;

fn receive(messages: &Value) -> String {
    parse_items(messages.to_string().as_bytes(), None).unwrap_err().to_string()
}

#[test]
fn non_array_is_rejected() {
    assert!(receive(&json!({"messages": []})).starts_with("expected an array of messages: "));
}

#[test]
fn error_names_path_of_each_flaw() {
    let user = json!({"role": "user", "content": "hi"});
    let calling = |call: Value| json!({"role": "assistant", "tool_calls": [call]});
    for (message, place) in [
        (json!(7), "messages[1]: "),
        (json!({"content": "hi"}), "messages[1].role: "),
        (json!({"role": "critic"}), "messages[1].role: "),
        (json!({"role": "user", "content": 7}), "messages[1].content: "),
        (json!({"role": "user", "content": [{"type": "video"}]}), "messages[1].content[0]: "),
        (json!({"role": "user", "content": [{"type": "text"}]}), "messages[1].content[0].text: "),
        (
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}),
            "messages[1].content[0].image_url.url: ",
        ),
        (json!({"role": "tool", "content": "1"}), "messages[1].tool_call_id: "),
        (json!({"role": "assistant", "refusal": 7}), "messages[1].refusal: "),
        (json!({"role": "assistant", "audio": {"id": "a"}}), "messages[1].audio: "),
        (json!({"role": "assistant", "tool_calls": 7}), "messages[1].tool_calls: "),
        (calling(json!({"function": {}})), "messages[1].tool_calls[0].id: "),
        (calling(json!({"id": "c", "type": "magic"})), "messages[1].tool_calls[0].type: "),
        (calling(json!({"id": "c"})), "messages[1].tool_calls[0].function: "),
        (
            calling(json!({"id": "c", "function": {"name": "f"}})),
            "messages[1].tool_calls[0].function.arguments: ",
        ),
    ] {
        let received = receive(&json!([user, message]));
        assert!(received.starts_with(place), "{received}");
    }
}
