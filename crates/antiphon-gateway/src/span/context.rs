//! The context of a trace in the headers of a request: W3C Trace Context.
//!
//! Source: <https://www.w3.org/TR/trace-context/>

use std::str::FromStr as _;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{SpanContext, TraceContextExt as _, TraceFlags, TraceState};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// `traceparent`, as in `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// `tracestate`, as in `vendor=value`.
pub(crate) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The length of `traceparent` in version 00. Later versions may append fields.
const SHORTEST: usize = 55;

/// The context in these headers; `None` if there is none, or if it is not well-formed or repeated.
pub(crate) fn extract(headers: &HeaderMap) -> Option<SpanContext> {
    let mut sent = headers.get_all(TRACEPARENT).iter();
    let (only, None) = (sent.next()?, sent.next()) else { return None };
    if only.len() < SHORTEST {
        return None;
    }
    let headers = HeaderExtractor(headers);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    let context = context.span().span_context().clone();
    context.is_valid().then_some(context)
}

/// The context in these two values, as a client sends them outside of headers.
pub(crate) fn parse(parent: &str, state: Option<&str>) -> Option<SpanContext> {
    let mut headers = HeaderMap::new();
    headers.insert(TRACEPARENT, HeaderValue::from_str(parent).ok()?);
    if let Some(state) = state.filter(|state| TraceState::from_str(state).is_ok()) {
        headers.insert(TRACESTATE, HeaderValue::from_str(state).ok()?);
    }
    extract(&headers)
}

/// Replaces the context in these headers.
pub(crate) fn inject(context: &SpanContext, headers: &mut HeaderMap) {
    let (trace, span) = (context.trace_id(), context.span_id());
    let flags = context.trace_flags() & TraceFlags::SAMPLED;
    let parent = format!("00-{trace}-{span}-{flags:02x}");
    let parent = HeaderValue::try_from(parent).expect("it is hexadecimal");
    headers.insert(TRACEPARENT, parent);
    match HeaderValue::try_from(context.trace_state().header()) {
        Ok(state) if !state.is_empty() => drop(headers.insert(TRACESTATE, state)),
        _ => drop(headers.remove(TRACESTATE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn context_passes_unchanged() {
        let context = parse(PARENT, Some("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")).unwrap();
        let mut headers = HeaderMap::new();
        inject(&context, &mut headers);
        assert_eq!(headers[TRACEPARENT], PARENT);
        assert_eq!(headers[TRACESTATE], "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
        assert!(context.is_remote() && context.is_sampled());
    }

    #[test]
    fn invalid_parents_are_ignored() {
        let too_short = &PARENT[..54];
        let zero = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let upper = "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01";
        for parent in ["", too_short, zero, upper, "ff-4bf92f3577b34da6a3ce929d0e0e4736-", "ä"] {
            assert_eq!(parse(parent, None), None, "{parent}");
        }
    }

    #[test]
    fn repeated_parent_is_ignored() {
        let mut headers = HeaderMap::new();
        headers.append(TRACEPARENT, HeaderValue::from_static(PARENT));
        assert!(extract(&headers).is_some());
        headers.append(TRACEPARENT, HeaderValue::from_static(PARENT));
        assert_eq!(extract(&headers), None);
    }

    #[test]
    fn invalid_state_is_dropped() {
        let context = parse(PARENT, Some("no equals sign")).unwrap();
        let mut headers = HeaderMap::from_iter([(TRACESTATE, HeaderValue::from_static("old=1"))]);
        inject(&context, &mut headers);
        assert_eq!(headers.get(TRACESTATE), None);
    }
}
