//! How an answer ends, and what it cost.

use crate::dialect::usage;
use crate::json::{Object, quote};
use crate::stream::{Assembler, Status};

/// What is known of the answer's end.
///
/// | `stop_reason` | response |
/// |---|---|
/// | `end_turn`, `stop_sequence`, `tool_use`, any unknown one | completed |
/// | `pause_turn` | completed: the caller goes on by sending back what was answered |
/// | `max_tokens`, `model_context_window_exceeded` | incomplete, `max_output_tokens` |
/// | `refusal` | incomplete, `content_filter`: a classifier cut the answer short |
#[derive(Debug, Default)]
pub(super) struct Ending {
    stop_reason: Option<String>,
    /// Whether more was said of the reason than its name, which a response has no field for.
    has_details: bool,
    usage: Usage,
}

/// Token counts as far as they were told. Each is a total, so that the last one counts.
#[derive(Debug, Default)]
struct Usage {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    output: Option<u64>,
}

impl Ending {
    /// Whether a reason to stop was told.
    pub(super) fn is_known(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Whether a limit ended the answer, rather than the model.
    pub(super) fn is_cut_short(&self) -> bool {
        self.reason().is_some()
    }

    /// Takes the `stop_reason` of a message or of a `message_delta`.
    pub(super) fn hear_stop(&mut self, message: &Object<'_>) {
        if let Some(reason) = message.string("stop_reason") {
            self.stop_reason = Some(reason.into_owned());
        }
        self.has_details |= message.present("stop_details").is_some();
    }

    pub(super) fn hear_usage(&mut self, usage: &Object<'_>) {
        let Usage { input, cache_read, cache_creation, output } = &mut self.usage;
        for (key, count) in [
            ("input_tokens", input),
            ("cache_read_input_tokens", cache_read),
            ("cache_creation_input_tokens", cache_creation),
            ("output_tokens", output),
        ] {
            let told = usage.get(key).and_then(|raw| raw.parse().ok());
            *count = told.or(*count);
        }
    }

    /// Ends the response.
    pub(super) fn tell(&self, assembler: &mut Assembler) {
        if self.has_details {
            assembler.leave_out("stop_details");
        }
        let mut response = self.usage.in_response();
        match self.reason() {
            None => assembler.end_response(Status::Completed, &response),
            Some(reason) => {
                response.set("incomplete_details", format!(r#"{{"reason":"{reason}"}}"#));
                assembler.end_response(Status::Incomplete, &response);
            }
        }
    }

    /// Ends the response with what an `error` event says: its type is the error's code.
    pub(super) fn tell_failure(&self, event: &Object<'_>, assembler: &mut Assembler) {
        let fields = event.object("error").unwrap_or_default();
        let code = fields.string("type").unwrap_or("api_error".into());
        let message = [fields.string("message"), event.string("error"), event.string("message")];
        let message = message.into_iter().flatten().next();
        let message = message.unwrap_or("The upstream failed without saying why.".into());
        let (code, message) = (quote(&code), quote(&message));
        let mut response = self.usage.in_response();
        response.set("error", format!(r#"{{"code":{code},"message":{message}}}"#));
        assembler.end_response(Status::Failed, &response);
    }

    /// Why the answer is incomplete, if it is.
    fn reason(&self) -> Option<&'static str> {
        match self.stop_reason.as_deref()? {
            "max_tokens" | "model_context_window_exceeded" => Some("max_output_tokens"),
            "refusal" => Some("content_filter"),
            _ => None,
        }
    }
}

impl Usage {
    /// A response that reports it, if any was told. Anthropic counts what it reads from a cache, and
    /// what it writes to one, beside the other input; the Responses API counts all of it as input.
    /// Thinking is part of the output and not counted by itself.
    fn in_response(&self) -> Object<'static> {
        let mut response = Object::default();
        let Self { input, cache_read, cache_creation, output } = *self;
        if input.or(output).is_some() {
            let (cached, written) = (cache_read.unwrap_or(0), cache_creation.unwrap_or(0));
            let counts = [input.unwrap_or(0), cached, written];
            let input = counts.into_iter().fold(0, u64::saturating_add);
            let output = output.unwrap_or(0);
            let usage = usage::Usage { input, cached, written, output, ..usage::Usage::default() };
            response.set("usage", usage.to_json());
        }
        response
    }
}
