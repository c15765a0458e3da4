//! The end of an answer.

use super::item_emitter::ItemEmitter;
use super::part::Part;
use super::usage;
use crate::dialect::usage::Usage;
use crate::json::{Object, quote};
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
            usage: usage.as_ref().and_then(usage::parse),
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
