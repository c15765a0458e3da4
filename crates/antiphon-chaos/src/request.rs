//! The bodies of requests.

use serde_json::{Value, json};

use crate::ledger::Target;
use crate::mark::Mark;
use crate::model::{MODEL, Plan, TOOL};

/// User messages. The last one has the instruction for the model.
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
pub(crate) fn body(target: &Target, input: &Value, streams: bool) -> Value {
    let parameters = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let tool = json!({"type": "function", "name": TOOL, "parameters": parameters, "strict": true});
    let mut body = json!({"model": MODEL, "input": input, "tools": [tool], "stream": streams});
    match target {
        Target::New => {}
        Target::After(id) => body["previous_response_id"] = id.as_str().into(),
        Target::Conversation(id) | Target::Items(id) => body["conversation"] = id.as_str().into(),
    }
    body
}
