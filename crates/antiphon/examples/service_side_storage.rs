//! A history provider replays stored items, and `previous_response_id` refers to the same turns, so
//! the server gets each call twice. `strip` removes the items that the server holds and leaves the
//! outputs.

use antiphon::Kind;
use antiphon::strip::strip;

pub(crate) fn main() {
    let request = r#"{
        "model": "m",
        "previous_response_id": "resp_1",
        "input": [
            {"role": "user", "content": "Echo hello"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "echo",
                "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "hello"}
        ]
    }"#;

    let stripped = strip(&request.into()).expect("the text above is a request");

    for item in &stripped.items {
        println!("input[{}]: {} stays with the server", item.position, item.kind);
    }
    let kinds: Vec<&Kind> = stripped.items.iter().map(|item| &item.kind).collect();
    assert_eq!(kinds, [&Kind::Reasoning, &Kind::FunctionCall]);

    let stateless = request.replace(r#""previous_response_id": "resp_1","#, "");
    let untouched = strip(&stateless.clone().into()).expect("the text above is a request");
    assert_eq!(untouched.body, stateless);
}
