//! The reasons for which a model stopped, in the words of OpenTelemetry.

use antiphon::json::Object;
use antiphon::stream::{Finished, Status};

/// The reason for which the answer ended: one for each answer, because an answer of the Responses
/// API has one choice. Source: the schema of `gen_ai.output.messages`.
pub(super) fn finish_reason(finished: &Finished, response: &Object<'_>) -> &'static str {
    let calls = || {
        let mut output = finished.output.iter();
        output.any(|output| output.announced.head().kind.must_be_answered())
    };
    match finished.status {
        Status::Completed if calls() => "tool_call",
        Status::Completed => "stop",
        Status::Incomplete => match incomplete_reason(response).as_deref() {
            Some("content_filter") => "content_filter",
            _ => "length",
        },
        Status::Failed | Status::Cancelled => "error",
    }
}

fn incomplete_reason(response: &Object<'_>) -> Option<String> {
    let details = Object::parse_str(response.present("incomplete_details")?).ok()?;
    details.string("reason").map(std::borrow::Cow::into_owned)
}
