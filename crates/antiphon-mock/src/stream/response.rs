//! The response object with every required key.

use serde_json::{Value, json};

use super::answer::Answer;
use super::output::Output;

/// The creation time of every answer: a constant, so that answers do not depend on the clock.
pub(crate) const CREATED_AT: u64 = 1_760_000_000;

/// The ending of a response.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Completed,
    Incomplete { reason: String },
    Failed { code: String, message: String },
}

impl Ending {
    pub(super) fn event(&self) -> &'static str {
        match self {
            Self::Completed => "response.completed",
            Self::Incomplete { .. } => "response.incomplete",
            Self::Failed { .. } => "response.failed",
        }
    }
}

/// The response in `response.created` and `response.in_progress`.
pub(super) fn in_progress(answer: &Answer) -> Value {
    let request = &answer.request;
    json!({
        "id": answer.response_id(),
        "object": "response",
        "created_at": CREATED_AT,
        "completed_at": null,
        "status": "in_progress",
        "incomplete_details": null,
        "error": null,
        "model": answer.model,
        "previous_response_id": null,
        "instructions": request["instructions"],
        "output": [],
        "tools": tools(request),
        "tool_choice": or(&request["tool_choice"], json!("auto")),
        "truncation": or(&request["truncation"], json!("disabled")),
        "parallel_tool_calls": or(&request["parallel_tool_calls"], json!(true)),
        "text": over(&request["text"], json!({"format": {"type": "text"}})),
        "top_p": or(&request["top_p"], json!(1.0)),
        "presence_penalty": or(&request["presence_penalty"], json!(0.0)),
        "frequency_penalty": or(&request["frequency_penalty"], json!(0.0)),
        "top_logprobs": or(&request["top_logprobs"], json!(0)),
        "temperature": or(&request["temperature"], json!(1.0)),
        "reasoning": over(&request["reasoning"], json!({"effort": null, "summary": null})),
        "usage": null,
        "max_output_tokens": request["max_output_tokens"],
        "max_tool_calls": request["max_tool_calls"],
        "store": false,
        "background": false,
        "service_tier": "default",
        "metadata": or(&request["metadata"], json!({})),
        "safety_identifier": request["safety_identifier"],
        "prompt_cache_key": request["prompt_cache_key"],
    })
}

/// The response in the terminal event and without streaming.
pub(super) fn ended(answer: &Answer) -> Value {
    let mut response = in_progress(answer);
    response["output"] = answer.output().into();
    response["usage"] = usage(answer);
    match &answer.ending {
        Ending::Completed => {
            response["status"] = "completed".into();
            response["completed_at"] = (CREATED_AT + 1).into();
        }
        Ending::Incomplete { reason } => {
            response["status"] = "incomplete".into();
            response["incomplete_details"] = json!({"reason": reason});
        }
        Ending::Failed { code, message } => {
            response["status"] = "failed".into();
            response["error"] = json!({"code": code, "message": message});
            response["usage"] = Value::Null;
        }
    }
    response
}

fn usage(answer: &Answer) -> Value {
    let items = answer.items();
    let input = answer.request["input"].to_string().len().div_ceil(4);
    let output: usize = items.iter().map(Output::tokens).sum();
    let reasoning: usize = items.iter().filter(|it| it.is_reasoning()).map(Output::tokens).sum();
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": input + output,
    })
}

/// The request's tools. A function gets every key that the response requires.
fn tools(request: &Value) -> Value {
    let function = json!({"description": null, "parameters": null, "strict": null});
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let echo = |tool: &Value| {
        if tool["type"] == "function" { over(tool, function.clone()) } else { tool.clone() }
    };
    tools.iter().map(echo).collect()
}

fn or(given: &Value, default: Value) -> Value {
    if given.is_null() { default } else { given.clone() }
}

/// `default` with its fields replaced by the non-null ones of `given`.
fn over(given: &Value, mut default: Value) -> Value {
    for (name, value) in given.as_object().into_iter().flatten() {
        if !value.is_null() {
            default[name] = value.clone();
        }
    }
    default
}
