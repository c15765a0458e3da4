//! The faults that only Anthropic has.

use serde_json::{Value, json};

use super::{find_faults, request};

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "f", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thinking(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": signature})
}

/// A request with a tool and these messages.
fn with_tools(messages: &Value) -> Value {
    request(&json!({"tools": [{"name": "f", "input_schema": {}}], "messages": messages}))
}

/// The names of the faults of a request with these messages.
fn names(messages: &Value) -> Vec<&'static str> {
    find_faults(&with_tools(messages)).iter().map(|fault| fault.name).collect()
}

#[test]
fn wellformed_conversation_has_no_fault() {
    let messages = json!([
        user("Hello"),
        assistant(json!([thinking("EqQB"), text("One moment."), call("t1"), call("t2")])),
        user(json!([result("t2"), result("t1"), text("Go on")])),
        user("And?"),
        assistant("Done."),
    ]);
    assert_eq!(names(&messages), [""; 0]);
    assert_eq!(names(&json!([user("Hello"), assistant("")])), [""; 0]);
}

#[test]
fn each_fault_is_found() {
    let asked = || user("Hello");
    let sealed = r#"{"antiphon":"chat","origin":"h m","content":{}}"#;
    for (messages, expected) in [
        (json!([user(json!([text("Hello"), text("")]))]), "empty_text"),
        (json!([user(json!([text(" \n")]))]), "empty_text"),
        (json!([user(" ")]), "empty_text"),
        (json!([user(""), asked()]), "empty_text"),
        (json!([asked(), assistant(json!([])), asked()]), "empty_text"),
        (json!([assistant("Hi"), asked()]), "assistant_first"),
        (json!([asked(), assistant("Hi ")]), "trailing_whitespace"),
        (json!([asked(), assistant(json!([text("Hi\n")]))]), "trailing_whitespace"),
        (
            json!([asked(), assistant(json!([call("t")])), asked(), user(json!([result("t")]))]),
            "misplaced_output",
        ),
        (
            json!([asked(), assistant(json!([call("t")])), user(json!([text("x"), result("t")]))]),
            "misplaced_output",
        ),
        (
            json!([asked(), assistant(json!([call("f:0")])), user(json!([result("f:0")]))]),
            "malformed_call_id",
        ),
        (json!([asked(), assistant(json!([thinking(sealed), text("Hi")]))]), "foreign_reasoning"),
        (json!([asked(), assistant(json!([thinking(""), text("Hi")]))]), "foreign_reasoning"),
        (
            json!([asked(), assistant(json!([text("Hi"), thinking("EqQB")])), asked()]),
            "lone_reasoning",
        ),
    ] {
        assert_eq!(names(&messages), [expected], "{messages}");
    }
}

#[test]
fn blank_text_in_other_places_is_found() {
    let in_result = json!({"type": "tool_result", "tool_use_id": "t", "content": [text("")]});
    let messages = json!([user("Hello"), assistant(json!([call("t")])), user(json!([in_result]))]);
    assert_eq!(names(&messages), ["empty_text"]);
    let faults = find_faults(&request(&json!({"system": [text("")]})));
    assert_eq!(faults[0].message, "system: text content blocks must be non-empty");
}

#[test]
fn calls_without_tools_are_found() {
    let messages =
        json!([user("Hello"), assistant(json!([call("t")])), user(json!([result("t")]))]);
    for tools in [json!([]), Value::Null] {
        let faults = find_faults(&request(&json!({"messages": messages, "tools": tools})));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].name, "undefined_tools");
    }
}

#[test]
fn budget_needs_thinking_first() {
    let names = |thinking: &str, messages: Value| -> Vec<&str> {
        let mut request = with_tools(&messages);
        request["thinking"] = json!({"type": thinking, "budget_tokens": 2_000});
        find_faults(&request).iter().map(|fault| fault.name).collect()
    };
    let begun = |first: Value| {
        json!([user("Hello"), assistant(json!([first, call("t")])), user(json!([result("t")]))])
    };
    assert_eq!(names("enabled", begun(text("One moment."))), ["missing_reasoning"]);
    assert_eq!(names("enabled", begun(thinking("EqQB"))), [""; 0]);
    assert_eq!(names("adaptive", begun(text("One moment."))), [""; 0]);
    let answered = json!([user("Hello"), assistant("Hi"), user("And?")]);
    assert_eq!(names("enabled", answered), [""; 0]);
}

/// A fault that the items show is repaired, and reported, with the items.
#[test]
fn faults_of_items_are_left_to_items() {
    let messages = json!([
        user("Hello"),
        assistant(json!([call("t"), call("t"), call("u")])),
        user(json!([result("t"), result("t"), result("unknown")]))
    ]);
    assert_eq!(names(&messages), [""; 0]);
    let messages = json!([
        user("Hello"),
        assistant(json!([call("t")])),
        user(json!([result("t")])),
        assistant(json!([call("t")])),
        user(json!([result("t")]))
    ]);
    assert_eq!(names(&messages), [""; 0]);
}

#[test]
fn invalid_request_has_no_fault() {
    assert!(find_faults(&json!({"messages": [{"role": "user"}, user("")]})).is_empty());
}
