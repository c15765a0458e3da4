//! The span of a request, which adds the request's ids to each of its log lines.

use opentelemetry::trace::TraceId;
use tracing::Span;
use tracing::field::Empty;

use crate::request::{Continues, CreateRequest};
use crate::request_id::{RequestId, is_plain_id};

/// The maximum length in characters of a text from outside in a log line.
pub(crate) const MAX_TEXT: usize = 100;

/// The maximum length in characters of an error text in a log line.
pub(crate) const MAX_REASON: usize = 300;

/// The span of one request. It has the highest level, so that no log filter removes its fields from
/// the lines that pass.
pub(crate) fn request_span(id: &RequestId) -> Span {
    tracing::error_span!(
        "request",
        request_id = id.as_str(),
        trace_id = Empty,
        connection = Empty,
        tenant = Empty,
        conversation = Empty,
        model = Empty,
        upstream = Empty,
        upstream_request_id = Empty,
    )
}

/// The span of one turn of a WebSocket. `connection` is the id of the request that opened it.
pub(crate) fn lane_span(id: &RequestId, connection: &RequestId, tenant: &str) -> Span {
    let span = request_span(id);
    span.record("connection", connection.as_str());
    span.record("tenant", tenant);
    span
}

/// Adds the id of a request's trace to its span, if there is one.
pub(crate) fn record_trace(span: &Span, id: Option<TraceId>) {
    if let Some(id) = id {
        span.record("trace_id", tracing::field::display(id));
    }
}

/// Adds the fields of a turn to the current span.
pub(crate) fn record_turn(request: &CreateRequest, upstream: Option<&str>) {
    let span = Span::current();
    span.record("model", shortened(&request.model, MAX_TEXT));
    if let Continues::Conversation(id) = &request.continues {
        record_conversation(&span, Some(id));
    }
    if let Some(upstream) = upstream {
        span.record("upstream", upstream);
    }
}

/// Adds the id of a turn's conversation to a span, unless it would need escaping.
pub(crate) fn record_conversation(span: &Span, id: Option<&str>) {
    if let Some(id) = id.filter(|id| is_plain_id(id)) {
        span.record("conversation", id);
    }
}

/// The first characters of a text.
pub(crate) fn shortened(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(shortened("añb", 3), "añb");
        assert_eq!(shortened("añb", 2), "añ");
        assert_eq!(shortened("", 2), "");
    }
}
