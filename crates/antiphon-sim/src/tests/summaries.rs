//! Summaries, and answers from a summary.

use serde_json::{Value, json};

use super::{ask, echo, user};

const PROMPT: &str = "Summarize this conversation for the model that will continue it.";
const INTRODUCTION: &str = "The conversation so far was compacted. This is its summary:\n\n";

fn said(input: Value) -> String {
    ask(json!({ "input": input, "tools": [echo()], "tool_choice": "none" })).text().to_owned()
}

#[test]
fn summary_has_answers_and_outputs_but_no_user_messages() {
    let history = json!([
        user("My color is purple"),
        { "role": "assistant", "content": "Noted." },
        { "type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "call_1", "output": "hello" },
        user(PROMPT),
    ]);
    assert_eq!(said(history), "I answered: Noted. echo returned: hello.");
    assert_eq!(said(json!([user("Hello"), user(PROMPT)])), "Nothing was answered yet.");
    let agents = "Your task is to create a detailed summary of the conversation so far. Use echo.";
    assert_eq!(said(json!([user("Hello"), user(agents)])), "Nothing was answered yet.");
}

#[test]
fn summary_is_recalled_but_not_answered() {
    let summary = user(&format!("{INTRODUCTION}echo returned: hello."));
    let input = json!([user("Use the echo tool to echo hello"), summary]);
    let answer = ask(json!({ "input": input, "tools": [echo()] }));
    assert_eq!(answer.text(), "echo returned: hello.");
    let question = json!([summary, user("What did the echo tool return?")]);
    assert_eq!(said(question), "You told me: echo returned: hello.");
}
