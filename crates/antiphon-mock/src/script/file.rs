//! The file form of scripts.

use http::StatusCode;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use super::Script;
use crate::{Answer, Reply, digest};

/// The number of digits in a call id that the file does not set.
const CALL_DIGITS: usize = 24;

pub(super) fn read(json: &str) -> Result<Vec<Script>, serde_json::Error> {
    let entries: Vec<Entry> = serde_json::from_str(json)?;
    entries.into_iter().enumerate().map(|(index, entry)| entry.script(index + 1)).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    answer: Option<Vec<Output>>,
    #[serde(default)]
    incomplete: bool,
    failed: Option<Failure>,
    stop_after: Option<usize>,
    break_after: Option<usize>,
    status: Option<u16>,
    #[serde(default)]
    body: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Output {
    Reasoning(String),
    Message(String),
    Refusal(String),
    Call(Call),
    CustomCall(CustomCall),
    Item(Value),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Value,
    call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CustomCall {
    name: String,
    input: String,
    call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
}

impl Entry {
    /// Converts the entry; `number` is its position in the file, from 1.
    fn script(self, number: usize) -> Result<Script, serde_json::Error> {
        let mut script = match (self.status, self.answer) {
            (Some(status), None) => reply(number, status, &self.body)?,
            (None, Some(items)) => {
                let ending = (self.incomplete, self.failed);
                Script::from(with_ending(answer(number, items), ending))
            }
            _ => {
                let problem = "needs either 'answer' or 'status'";
                return Err(serde_json::Error::custom(format!("entry {number} {problem}")));
            }
        };
        if let Some(count) = self.stop_after {
            script = script.hang_after(count);
        }
        if let Some(count) = self.break_after {
            script = script.break_after(count);
        }
        Ok(script)
    }
}

fn reply(number: usize, status: u16, body: &Value) -> Result<Script, serde_json::Error> {
    let status = StatusCode::from_u16(status).map_err(|_| {
        serde_json::Error::custom(format!("entry {number}: {status} is not an HTTP status"))
    })?;
    Ok(Reply::json(status, body).into())
}

/// Builds the answer. Its model name is set later, from the request.
fn answer(number: usize, items: Vec<Output>) -> Answer {
    items.into_iter().enumerate().fold(Answer::new(""), |answer, (index, item)| {
        let id = |given: Option<String>| given.unwrap_or_else(|| call_id(number, index));
        match item {
            Output::Reasoning(summary) => answer.reasoning(summary),
            Output::Message(text) => answer.message(text),
            Output::Refusal(text) => answer.refusal(text),
            Output::Call(call) => answer.call(id(call.call_id), call.name, text(&call.arguments)),
            Output::CustomCall(call) => answer.custom_call(id(call.call_id), call.name, call.input),
            Output::Item(item) => answer.item(item),
        }
    })
}

fn with_ending(answer: Answer, (incomplete, failed): (bool, Option<Failure>)) -> Answer {
    match failed {
        Some(failure) => answer.failed(failure.code, failure.message),
        None if incomplete => answer.incomplete(),
        None => answer,
    }
}

/// Call arguments as the API has them: JSON in a string. A string is used unchanged.
fn text(arguments: &Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    }
}

fn call_id(number: usize, index: usize) -> String {
    let place = [number.to_string(), index.to_string()];
    format!("call_{}", digest::digits(&["script", &place[0], &place[1]], CALL_DIGITS))
}
