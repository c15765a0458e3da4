//! The end of an answer, and its token usage.

use crate::dialect::usage;
use crate::json::{Object, quote};
use crate::stream::{Assembler, Status};

/// The data about the end of an answer.
///
/// | `stop_reason` | response |
/// |---|---|
/// | `end_turn`, `stop_sequence`, `tool_use`, any unknown one | completed |
/// | `pause_turn` | completed; the client continues by sending the output back |
/// | `max_tokens`, `model_context_window_exceeded` | incomplete, `max_output_tokens` |
/// | `refusal` | incomplete, `content_filter`: a classifier cut the answer short |
#[derive(Debug, Default)]
pub(super) struct Ending {
    stop_reason: Option<String>,
    /// Whether the reason came with details. A response has no field for them.
    has_details: bool,
    usage: Usage,
}

/// The latest token counts. Each event reports totals, not increments.
#[derive(Debug, Default)]
struct Usage {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    output: Option<u64>,
}

impl Ending {
    /// Whether a `stop_reason` has arrived.
    pub(super) fn is_known(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Whether a limit or a classifier ended the answer.
    pub(super) fn is_cut_short(&self) -> bool {
        self.reason().is_some()
    }

    /// Takes the `stop_reason` of a message or of a `message_delta`.
    pub(super) fn read_stop_reason(&mut self, message: &Object<'_>) {
        if let Some(reason) = message.string("stop_reason") {
            self.stop_reason = Some(reason.into_owned());
        }
        self.has_details |= message.present("stop_details").is_some();
    }

    pub(super) fn read_usage(&mut self, usage: &Object<'_>) {
        let Usage { input, cache_read, cache_creation, output } = &mut self.usage;
        for (key, count) in [
            ("input_tokens", input),
            ("cache_read_input_tokens", cache_read),
            ("cache_creation_input_tokens", cache_creation),
            ("output_tokens", output),
        ] {
            let parsed = usage.get(key).and_then(|raw| raw.parse().ok());
            *count = parsed.or(*count);
        }
    }

    /// Ends the response.
    pub(super) fn end_response(&self, assembler: &mut Assembler) {
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

    /// Ends the response as failed. The type of the `error` event becomes the error's code.
    pub(super) fn fail_response(&self, event: &Object<'_>, assembler: &mut Assembler) {
        let fields = event.object("error").unwrap_or_default();
        let code = fields.string("type").unwrap_or("api_error".into());
        let message = [fields.string("message"), event.string("error"), event.string("message")];
        let message = message.into_iter().flatten().next();
        let message = message.unwrap_or("The upstream failed without an error message.".into());
        let (code, message) = (quote(&code), quote(&message));
        let mut response = self.usage.in_response();
        response.set("error", format!(r#"{{"code":{code},"message":{message}}}"#));
        assembler.end_response(Status::Failed, &response);
    }

    /// The reason of an incomplete answer.
    fn reason(&self) -> Option<&'static str> {
        match self.stop_reason.as_deref()? {
            "max_tokens" | "model_context_window_exceeded" => Some("max_output_tokens"),
            "refusal" => Some("content_filter"),
            _ => None,
        }
    }
}

impl Usage {
    /// A response that holds only the usage, if there is any. Anthropic counts cache reads and
    /// cache writes separately from other input; the Responses API includes them in the input.
    /// Anthropic does not count thinking separately from other output.
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
