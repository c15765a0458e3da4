//! The end of an answer: its reason, its failure, its token counts.

use super::item_emitter::ItemEmitter;
use super::part::Part;
use crate::dialect::usage::Usage;
use crate::json::{Object, quote, unquote};
use crate::stream::{Failure, Status};

/// The reason for the end: the `finishReason` of `finish` and `finish-step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The answer is complete: `stop`, `tool-calls`, and reasons without a meaning of their own
    /// (`other`, `unknown`).
    Done,
    /// `length`
    Length,
    /// `content-filter`
    Filtered,
    /// `error`
    Failed,
    /// `interrupted`: the provider's stream broke off.
    Interrupted,
}

impl Reason {
    /// The reason in a part: a string, or, from models of version 6 and 7, `{unified, raw}`.
    pub(super) fn from_part(part: Part<'_>) -> Self {
        let unified = part.object("finishReason");
        let unified = unified.as_ref().and_then(|reason| reason.string("unified"));
        match part.string("finishReason").or(unified).as_deref() {
            Some("length") => Self::Length,
            Some("content-filter") => Self::Filtered,
            Some("error") => Self::Failed,
            Some("interrupted") => Self::Interrupted,
            _ => Self::Done,
        }
    }
}

/// The end of an answer.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) reason: Reason,
    pub(super) usage: Option<Usage>,
    /// The model's name, raw, if no earlier part contained it.
    pub(super) model: Option<String>,
}

impl Ending {
    /// Parses `finish` or `finish-step`. The usage is under `counts`, otherwise under `usage`.
    pub(super) fn from_part(part: Part<'_>, counts: &str) -> Self {
        let usage = part.object(counts).or_else(|| part.object("usage"));
        let response = part.object("response");
        let model = response.as_ref().and_then(|response| response.present("modelId"));
        Self {
            reason: Reason::from_part(part),
            usage: usage.as_ref().and_then(parse_usage),
            model: model.map(str::to_owned),
        }
    }

    /// Ends the response.
    pub(super) fn end_response(self, emitter: &mut ItemEmitter<'_>) {
        let status = match self.reason {
            Reason::Done => Status::Completed,
            Reason::Length | Reason::Filtered => Status::Incomplete,
            Reason::Failed | Reason::Interrupted => Status::Failed,
        };
        let details = self.details();
        let mut response: Object<'_> = details.iter().map(|(key, raw)| (*key, &**raw)).collect();
        if let Some(usage) = self.usage {
            response.set("usage", usage.to_json());
        }
        if let Some(model) = self.model {
            response.set("model", model);
        }
        emitter.assembler.end_response(status, &response);
    }

    /// The field of the response that describes this end.
    fn details(&self) -> Option<(&'static str, String)> {
        let incomplete = |reason| ("incomplete_details", format!(r#"{{"reason":"{reason}"}}"#));
        match self.reason {
            Reason::Done => None,
            Reason::Length => Some(incomplete("max_output_tokens")),
            Reason::Filtered => Some(incomplete("content_filter")),
            Reason::Failed => Some(error("The model ended with an error.")),
            Reason::Interrupted => {
                Some(error("The upstream's answer broke off before it was complete."))
            }
        }
    }
}

fn error(message: &str) -> (&'static str, String) {
    let Failure { code, message } = Failure::server_error(message);
    ("error", format!(r#"{{"code":{},"message":{}}}"#, quote(&code), quote(&message)))
}

/// The maximum depth of nested errors: an event in an SDK's error, an error in an event.
const MAX_DEPTH: usize = 4;

/// The failure in an `error` part. The error is a string, or an object with a `message`, or an
/// object with such an object as its `error`.
pub(super) fn failure_from_part(part: Part<'_>) -> Failure {
    let error = part.get("error");
    let failure = Failure::server_error("The upstream failed without an error message.");
    Failure {
        code: code(error).unwrap_or(failure.code),
        message: failure_message(error).unwrap_or(failure.message),
    }
}

/// The failure for an `abort` part, which can contain a reason.
pub(super) fn failure_from_abort(part: Part<'_>) -> Failure {
    let reason = part.string("reason").filter(|reason| !reason.is_empty());
    let message =
        reason.map_or_else(|| "The run was aborted.".into(), std::borrow::Cow::into_owned);
    Failure { code: "aborted".into(), message }
}

/// The message of an error, if there is one.
pub(super) fn failure_message(error: Option<&str>) -> Option<String> {
    if let Some(text) = error.and_then(unquote) {
        return Some(text.into_owned()).filter(|text| !text.is_empty());
    }
    find(error?, "message", MAX_DEPTH)
}

fn code(error: Option<&str>) -> Option<String> {
    find(error?, "code", MAX_DEPTH)
}

/// The string under `key` in the error, or in a nested error.
fn find(error: &str, key: &str, depth: usize) -> Option<String> {
    let object = Object::parse(error.as_bytes()).ok().filter(|_| depth > 0)?;
    let own = object.string(key).filter(|text| !text.is_empty());
    match own {
        Some(text) => Some(text.into_owned()),
        None => find(object.present("error")?, key, depth - 1),
    }
}

/// Parses the counts of any version; `None` if there are none.
///
/// - 5: `inputTokens`, `outputTokens`, `reasoningTokens`, `cachedInputTokens`, `totalTokens`;
/// - 6 and 7, of a model: `inputTokens.total`, `inputTokens.cacheRead`, `inputTokens.cacheWrite`,
///   `outputTokens.total`, `outputTokens.reasoning`;
/// - 6 and 7, of a `fullStream`: `inputTokens`, `inputTokenDetails.cacheReadTokens`,
///   `inputTokenDetails.cacheWriteTokens`, `outputTokens`, `outputTokenDetails.reasoningTokens`,
///   `totalTokens`.
pub(super) fn parse_usage(usage: &Object<'_>) -> Option<Usage> {
    let count = |path: &[&str]| number(usage, path);
    let any = |paths: &[&[&str]]| paths.iter().find_map(|path| count(path));
    let input = any(&[&["inputTokens"], &["inputTokens", "total"]]);
    let output = any(&[&["outputTokens"], &["outputTokens", "total"]]);
    let total = count(&["totalTokens"]);
    input.or(output).or(total)?;
    let cached = any(&[
        &["inputTokens", "cacheRead"],
        &["inputTokenDetails", "cacheReadTokens"],
        &["cachedInputTokens"],
    ]);
    let written =
        any(&[&["inputTokens", "cacheWrite"], &["inputTokenDetails", "cacheWriteTokens"]]);
    let reasoning = any(&[
        &["outputTokens", "reasoning"],
        &["outputTokenDetails", "reasoningTokens"],
        &["reasoningTokens"],
    ]);
    Some(Usage {
        input: input.unwrap_or(0),
        cached: cached.unwrap_or(0),
        written: written.unwrap_or(0),
        output: output.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
        total,
    })
}

fn number(object: &Object<'_>, path: &[&str]) -> Option<u64> {
    let (key, rest) = path.split_first()?;
    let raw = object.present(key)?;
    if rest.is_empty() {
        return raw.parse().ok();
    }
    number(&object.object(key)?, rest)
}
