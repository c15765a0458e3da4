//! The bodies of requests.

use serde_json::{Value, json};

use crate::ledger::Place;
use crate::mark::Mark;
use crate::model::{MODEL, Plan, TOOL};

/// A user's messages, of which the last says what to do.
pub(crate) fn messages(turn: u32, count: usize, plan: Plan) -> Value {
    let said = |part: usize| format!("{} {}", Mark::new(turn, part), plan.word());
    (0..count)
        .map(|part| json!({"type": "message", "role": "user", "content": said(part)}))
        .collect()
}

/// The outputs of calls.
pub(crate) fn outputs(turn: u32, calls: &[String]) -> Value {
    let output = |(part, call_id): (usize, &String)| {
        let said = format!("{} {}", Mark::new(turn, part), Plan::Short.word());
        json!({"type": "function_call_output", "call_id": call_id, "output": said})
    };
    calls.iter().enumerate().map(output).collect()
}

/// The body of a turn.
pub(crate) fn body(place: &Place, input: &Value, streams: bool) -> Value {
    let parameters = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let tool = json!({"type": "function", "name": TOOL, "parameters": parameters, "strict": true});
    let mut body = json!({"model": MODEL, "input": input, "tools": [tool], "stream": streams});
    match place {
        Place::New => {}
        Place::After(id) => body["previous_response_id"] = id.as_str().into(),
        Place::Conversation(id) | Place::Items(id) => body["conversation"] = id.as_str().into(),
    }
    body
}
