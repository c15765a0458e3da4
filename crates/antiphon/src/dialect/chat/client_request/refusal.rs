//! OpenAI's errors of Chat Completions for faults of the items that a request became.
//!
//! Source: the texts of OpenAI's errors.

use crate::faults::{Fault, Refusal};
use crate::json::Object;

/// Rewrites an error about an item as the error of Chat Completions about the messages of the
/// request. Errors without a counterpart stay the same.
pub(in crate::dialect) fn reword(request: &Object<'_>, refusal: Refusal) -> Refusal {
    let messages = Messages::read(request);
    let reworded = match &*refusal.fault {
        Fault::UnansweredCall { call_id, .. } => messages.unanswered(call_id.as_str()),
        Fault::OutputWithoutCall { call_id: Some(call_id), .. } => {
            messages.output_without_call(call_id.as_str())
        }
        Fault::DuplicateCall { call_id, .. } => messages.second_call(call_id.as_str()),
        Fault::DuplicateOutput { call_id, .. } => messages.second_output(call_id.as_str()),
        Fault::OverlongCallId { call_id, .. } => {
            return renamed(messages.call_path(call_id.as_str()), refusal);
        }
        Fault::EmptyCallId { kind } if kind.call().is_some() => {
            return renamed(messages.output_path(""), refusal);
        }
        Fault::EmptyCallId { .. } => return renamed(messages.call_path(""), refusal),
        _ => return refusal,
    };
    let Reworded { param, message } = reworded;
    Refusal { status: 400, code: None, param: Some(param), message, ..refusal }
}

/// The error with the path of the field in the messages.
fn renamed(path: Option<String>, refusal: Refusal) -> Refusal {
    let (Some(path), Some(param)) = (path, &refusal.param) else { return refusal };
    let message = refusal.message.replace(param.as_str(), &path);
    Refusal { param: Some(path), message, ..refusal }
}

/// The parameter and the text of an error.
struct Reworded {
    param: String,
    message: String,
}

/// The parts of messages that calls and outputs have.
enum Message {
    /// The ids of the calls of an assistant's message.
    Calls(Vec<String>),
    /// The id of the call that the message answers.
    Output(String),
    Other,
}

struct Messages(Vec<Message>);

impl Messages {
    fn read(request: &Object<'_>) -> Self {
        let messages = request.objects("messages");
        Self(messages.iter().map(Message::read).collect())
    }

    /// The calls of the message that the outputs before or at `index` answer.
    fn calls_before(&self, index: usize) -> &[String] {
        let before = self.0[..index].iter().rev();
        match before.into_iter().find(|message| !matches!(message, Message::Output(_))) {
            Some(Message::Calls(ids)) => ids,
            _ => &[],
        }
    }

    /// The positions of the outputs of a call.
    fn outputs<'a>(&'a self, id: &'a str) -> impl Iterator<Item = usize> + 'a {
        let is_output = move |message: &Message| matches!(message, Message::Output(of) if of == id);
        self.0.iter().enumerate().filter(move |(_, it)| is_output(it)).map(|(index, _)| index)
    }

    /// The positions of the calls with an id: of the message, and in its list.
    fn calls<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
        let ids = |message: &'a Message| match message {
            Message::Calls(ids) => ids.as_slice(),
            _ => &[],
        };
        self.0.iter().enumerate().flat_map(move |(index, message)| {
            let calls = ids(message).iter().enumerate().filter(move |(_, call)| *call == id);
            calls.map(move |(number, _)| (index, number))
        })
    }

    fn call_path(&self, id: &str) -> Option<String> {
        let (message, number) = self.calls(id).next()?;
        Some(format!("messages[{message}].tool_calls[{number}].id"))
    }

    fn output_path(&self, id: &str) -> Option<String> {
        Some(format!("messages[{}].tool_call_id", self.outputs(id).next()?))
    }

    /// The error names all calls of the message that have no output, and the message in the place
    /// of the first missing one.
    fn unanswered(&self, id: &str) -> Reworded {
        let group = self.calls(id).find_map(|(index, _)| {
            let ids = self.unanswered_calls(index);
            ids.contains(&id).then_some((index, ids))
        });
        let (param, ids) = match group {
            None => ("messages".to_owned(), vec![id]),
            Some((index, ids)) => {
                let end = self.end_of_outputs(index).min(self.0.len() - 1);
                (format!("messages.[{end}].role"), ids)
            }
        };
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
             to each 'tool_call_id'. The following tool_call_ids did not have response messages: \
             {}",
            ids.join(", ")
        );
        Reworded { param, message }
    }

    /// The position after the outputs that follow this message.
    fn end_of_outputs(&self, index: usize) -> usize {
        let after = &self.0[index + 1..];
        let outputs = after.iter().take_while(|message| matches!(message, Message::Output(_)));
        index + 1 + outputs.count()
    }

    /// The calls of the message at `index` without an output directly after it.
    fn unanswered_calls(&self, index: usize) -> Vec<&str> {
        let outputs = index + 1..self.end_of_outputs(index);
        let Message::Calls(ids) = &self.0[index] else { return Vec::new() };
        let is_open = |id: &&str| !self.outputs(id).any(|output| outputs.contains(&output));
        ids.iter().map(String::as_str).filter(is_open).collect()
    }

    fn output_without_call(&self, id: &str) -> Reworded {
        let index = self.outputs(id).find(|index| !self.calls(id).any(|(call, _)| call < *index));
        let is_after_calls = index.is_some_and(|index| !self.calls_before(index).is_empty());
        let (field, message) = match is_after_calls {
            true => (
                "tool_call_id",
                format!(
                    "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of \
                     previous message."
                ),
            ),
            // The misspelling is the provider's.
            false => (
                "role",
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                 message with 'tool_calls'."
                    .to_owned(),
            ),
        };
        Reworded { param: param(index, field), message }
    }

    fn second_output(&self, id: &str) -> Reworded {
        let mut outputs = self.outputs(id);
        let start = format!("Invalid parameter: Duplicate value for 'tool_call_id' of '{id}'");
        match (outputs.next(), outputs.next()) {
            (Some(first), Some(second)) => Reworded {
                param: param(Some(second), "tool_call_id"),
                message: format!("{start}, in messages[{first}] and messages[{second}]."),
            },
            (first, _) => {
                Reworded { param: param(first, "tool_call_id"), message: format!("{start}.") }
            }
        }
    }

    fn second_call(&self, id: &str) -> Reworded {
        let call = self.calls(id).nth(1).or_else(|| self.calls(id).next());
        let place = call.map(|(index, _)| format!(", in 'tool_calls' of messages[{index}]"));
        let message = format!(
            "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}'{}.",
            place.unwrap_or_default()
        );
        Reworded { param: param(call.map(|(index, _)| index), "tool_calls"), message }
    }
}

/// The path of a field of the message at `index`. A message that is stored, and not in the request,
/// has only `messages`.
fn param(index: Option<usize>, field: &str) -> String {
    index.map_or_else(|| "messages".to_owned(), |index| format!("messages.[{index}].{field}"))
}

impl Message {
    fn read(message: &Object<'_>) -> Self {
        let id = |fields: &Object<'_>, key| fields.string(key).unwrap_or_default().into_owned();
        match message.string("role").as_deref() {
            Some("tool") => Self::Output(id(message, "tool_call_id")),
            Some("assistant") => {
                let calls = message.objects("tool_calls");
                Self::Calls(calls.iter().map(|call| id(call, "id")).collect())
            }
            _ => Self::Other,
        }
    }
}
