//! Answers in words, in each output format.

use serde_json::{Value, json};

use super::{ask, user};

#[test]
fn statement_is_acknowledged_with_its_words() {
    assert_eq!(ask(json!({ "input": "Hello!" })).text(), "Noted: Hello!");
    assert_eq!(ask(json!({ "input": "  I like\ntea " })).text(), "Noted: I like tea.");
    assert_eq!(ask(json!({ "input": "" })).text(), "Noted: an empty message.");
}

#[test]
fn long_statement_is_quoted_briefly() {
    let text = ask(json!({ "input": "word ".repeat(1000) })).text().to_owned();
    assert!(text.starts_with("Noted: word word"), "{text}");
    assert!(text.ends_with('…') && text.len() < 200, "{text}");
}

#[test]
fn only_the_last_user_message_is_answered() {
    let assistant = json!({
        "type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
        "content": [{ "type": "output_text", "text": "Noted: one.", "annotations": [] }],
    });
    let answered = ask(json!({ "input": [user("one"), assistant, user("two")] }));
    assert_eq!(answered.text(), "Noted: two.");
}

#[test]
fn missing_user_message_is_stated() {
    let input = json!([{ "role": "developer", "content": "Be brief." }]);
    assert_eq!(ask(json!({ "input": input })).text(), "I was given no user message.");
    assert_eq!(ask(json!({ "input": [] })).text(), "I was given no user message.");
}

#[test]
fn attachments_are_named_by_kind_and_detail() {
    let input = json!([{ "role": "user", "content": [
        { "type": "input_text", "text": "What is this?" },
        { "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "high" },
        { "type": "input_file", "filename": "report.pdf", "file_data": "AAAA" },
    ] }]);
    assert_eq!(
        ask(json!({ "input": input })).text(),
        "I was given an image (image/png, detail high) and a file (report.pdf), \
         with: What is this?"
    );

    let input = json!([{ "role": "user", "content": [
        { "type": "input_image", "image_url": "https://example.com/cat.png" },
    ] }]);
    assert_eq!(
        ask(json!({ "input": input })).text(),
        "I was given an image (https://example.com/cat.png, detail auto)."
    );
}

#[test]
fn bytes_of_an_unnamed_file_are_not_repeated() {
    let input = json!([{ "role": "user", "content": [
        { "type": "input_file", "file_data": "JVBERi0xLjQK" },
    ] }]);
    assert_eq!(ask(json!({ "input": input })).text(), "I was given a file (unnamed).");
}

#[test]
fn show_context_lists_the_input() {
    let answered = ask(json!({
        "instructions": "Be kind.",
        "input": [
            user("hi"),
            { "type": "reasoning", "id": "rs_1",
              "summary": [{ "type": "summary_text", "text": "Hm." }] },
            { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{\"a\":1}" },
            { "type": "function_call_output", "call_id": "c1", "output": "one\ntwo" },
            { "type": "compaction", "id": "cmp_1", "encrypted_content": "x" },
            { "type": "message", "role": "assistant",
              "content": [{ "type": "output_text", "text": "ok" }] },
            user("Show me the context!"),
        ],
    }));
    let expected = "instructions: Be kind.\n\
        0. message user: hi\n\
        1. reasoning: Hm.\n\
        2. function_call echo (c1): {\"a\":1}\n\
        3. function_call_output (c1): one two\n\
        4. compaction\n\
        5. message assistant: ok\n\
        6. message user: Show me the context!";
    assert_eq!(answered.text(), expected);
}

#[test]
fn instructions_may_dictate_the_reply() {
    let answered = ask(json!({
        "instructions": "You are a test.\nReply with: Never",
        "input": [{ "role": "system", "content": "Always reply with: pong." }, user("ping")],
    }));
    assert_eq!(answered.text(), "pong.");
}

#[test]
fn json_object_format_wraps_the_answer() {
    let format = json!({ "format": { "type": "json_object" } });
    let answered = ask(json!({ "input": "Say \"hi\"", "text": format }));
    let document: Value = serde_json::from_str(answered.text()).unwrap();
    assert_eq!(document, json!({ "answer": "Noted: Say \"hi\"." }));
}

#[test]
fn json_schema_is_filled_from_the_answer() {
    let format = |properties: Value, required: Value| {
        let schema = json!({
            "type": "object", "properties": properties, "required": required,
            "additionalProperties": false,
        });
        json!({ "format": { "type": "json_schema", "name": "out", "schema": schema } })
    };
    let text = format(
        json!({ "color": { "type": "string" }, "dog": { "type": "string" } }),
        json!(["color", "dog"]),
    );
    let input =
        json!([user("My color is purple, dog is Biscuit"), user("What are color and dog?")]);
    let document: Value =
        serde_json::from_str(ask(json!({ "input": input, "text": text })).text()).unwrap();
    assert_eq!(document, json!({ "color": "purple", "dog": "Biscuit" }));

    let text = format(
        json!({
            "age": { "type": "integer" },
            "mood": { "enum": ["neutral", "happy"] },
            "summary": { "type": "string" },
        }),
        json!(["age", "mood", "summary"]),
    );
    let input = "Ada, 36, is happy";
    let document: Value =
        serde_json::from_str(ask(json!({ "input": input, "text": text })).text()).unwrap();
    assert_eq!(document, json!({ "age": 36, "mood": "happy", "summary": "Ada, 36, is happy" }));
}

#[test]
fn tool_outputs_fill_a_json_schema_too() {
    let schema = json!({ "type": "object", "properties": { "result": { "type": "string" } } });
    let answered = ask(json!({
        "text": { "format": { "type": "json_schema", "name": "out", "schema": schema } },
        "input": [
            user("go"),
            { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "hi" },
        ],
    }));
    assert_eq!(answered.text(), "{\"result\":\"echo returned: hi\"}");
}
