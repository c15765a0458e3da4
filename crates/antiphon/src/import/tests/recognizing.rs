use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use HistoryForm::{AiSdkModel, AiSdkUi, Anthropic, Chat, LangChain, Responses};

fn user() -> Value {
    json!({"role": "user", "content": "hi"})
}

/// For each form, elements that fit no other form.
fn marked() -> Vec<(HistoryForm, Value)> {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    vec![
        (Responses, json!({"type": "function_call_output", "call_id": "c", "output": "x"})),
        (Responses, json!({"type": "something_new", "text": "x", "content": []})),
        (Responses, json!({"type": "tool", "name": "x"})),
        (Responses, json!({"id": "msg_1"})),
        (Responses, json!({"id": "msg_1", "type": null, "role": null})),
        (Responses, json!({"role": "user", "content": [{"type": "input_text", "text": "x"}]})),
        (Chat, json!({"role": "assistant", "content": null, "tool_calls": [call]})),
        (Chat, json!({"role": "tool", "tool_call_id": "c", "content": "x"})),
        (
            Anthropic,
            json!({"role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}),
        ),
        (
            Anthropic,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}),
        ),
        (
            Anthropic,
            json!({"type": "message", "role": "assistant",
                "content": [{"type": "thinking", "thinking": "x", "signature": "y"}]}),
        ),
        (
            AiSdkModel,
            json!({"role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f",
                    "input": {}}]}),
        ),
        (
            AiSdkModel,
            json!({"role": "tool",
                "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f",
                    "output": {"type": "text", "value": "x"}}]}),
        ),
        (AiSdkUi, json!({"id": "1", "role": "user", "parts": [{"type": "text", "text": "x"}]})),
        (LangChain, json!({"type": "human", "content": "x"})),
        (LangChain, json!({"type": "ai", "data": {"content": "x", "tool_calls": []}})),
        (
            LangChain,
            json!({"lc": 1, "type": "constructor",
                "id": ["langchain", "schema", "messages", "HumanMessage"],
                "kwargs": {"content": "x"}}),
        ),
    ]
}

#[test]
fn unambiguous_element_decides_the_form() {
    for (expected, element) in marked() {
        assert_eq!(form(&json!([element])), expected, "{element}");
    }
}

#[test]
fn ambiguous_messages_take_the_form_of_the_others() {
    for (expected, element) in marked().into_iter().filter(|(form, _)| *form != AiSdkUi) {
        assert_eq!(form(&json!([user(), element, user()])), expected, "{element}");
    }
    assert_eq!(form(&json!([user()])), Responses);
    let list = Bytes::from(json!([user()]).to_string());
    assert_eq!(import(&list, Chat, None).unwrap().form, Chat);
}

#[test]
fn image_url_fits_chat_completions_and_langchain() {
    let image = json!({"type": "image_url", "image_url": {"url": "x"}});
    let message = json!({"role": "user", "content": [image]});
    assert_eq!(form(&json!([message])), Chat);
    assert_eq!(form(&json!([message, {"type": "human", "content": "x"}])), LangChain);
}

#[test]
fn tool_calls_in_a_typed_message_are_chat_completions() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let message =
        json!({"type": "message", "role": "assistant", "content": "", "tool_calls": [call]});
    let imported = imported(&json!([message]));
    assert_eq!((imported.form, imported.items[0].head().kind.as_str()), (Chat, "function_call"));
}

#[test]
fn text_part_does_not_fit_responses() {
    assert_eq!(form(&json!([{"role": "user", "content": [{"type": "text", "text": "x"}]}])), Chat);
}

#[test]
fn unknown_form_error_names_the_likeness() {
    let cases = [
        (
            json!({"type": "human"}),
            r#"{"type":"human"}) looks like a LangChain message; expected its"#,
        ),
        (
            json!({"role": "model", "parts": [{"text": "x"}]}),
            "looks like a content of the Gemini API",
        ),
        (json!({"role": "user", "content": [{"text": "x"}]}), "Amazon Bedrock Converse"),
        (json!({"role": "bot", "content": "x"}), "looks like a message of an unknown role"),
        (json!({"id": "chatcmpl-1", "object": "chat.completion"}), "an answer of Chat Completions"),
        (json!({"role": "user", "blocks": []}), "looks like a message without 'content'"),
        (
            json!({"type": "message", "role": "user", "contents": []}),
            "looks like a message of Agent Framework",
        ),
        (json!({"id": "x", "text": "y"}), "an object with neither 'type' nor 'role'"),
        (
            json!({"type": "tool_use", "id": "c", "input": {}}),
            "a content block of an Anthropic message",
        ),
        (json!({"type": "response.created", "sequence_number": 0}), "an event of a stream"),
    ];
    for (element, resemblance) in cases {
        let sentence = refusal(&json!([user(), element]));
        assert!(sentence.starts_with("item 1 ("), "{sentence}");
        assert!(sentence.contains(resemblance), "{sentence}");
    }
}

#[test]
fn history_of_two_forms_is_rejected() {
    let elements = marked();
    for (one, first) in &elements {
        for (two, second) in elements.iter().filter(|(two, _)| two != one) {
            let sentence = refusal(&json!([first, second]));
            let expected = format!("but item 0 looks like {}", one.element());
            assert!(sentence.contains(&expected), "{sentence}");
            assert!(sentence.contains(&format!("looks like {}, but", two.element())), "{sentence}");
        }
    }
}

#[test]
fn unreadable_message_error_names_the_reason() {
    let list = json!([user(), {"role": "tool", "content": "x"}]);
    let expected = concat!(
        r#"item 1 ({"role":"tool",…}) looks like a Chat Completions message, but cannot be read: "#,
        "tool_call_id: expected a string",
    );
    assert_eq!(refusal(&list), expected);
}

proptest! {
    /// Unknown kinds are passed on byte for byte.
    #[test]
    fn unknown_kind_is_an_item(kind in "[a-z]{2,9}[_:][a-z]{2,9}", text in ".*",
        number in any::<i64>()) {
        let item = json!({"type": kind, "name": text, "n": number, "status": "completed"});
        let imported = imported(&json!([user(), item]));
        prop_assert_eq!(imported.form, Responses);
        prop_assert_eq!(imported.items[1].text(), item.to_string());
    }

    /// The order of ambiguous messages does not affect the form.
    #[test]
    fn the_order_does_not_decide(nth in 0..17usize, before in 0..4usize, after in 0..4usize) {
        let (expected, element) = marked().remove(nth);
        prop_assume!(expected != AiSdkUi);
        let mut list = vec![user(); before];
        list.push(element);
        list.extend(vec![user(); after]);
        prop_assert_eq!(form(&json!(list)), expected);
    }
}
