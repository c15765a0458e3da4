//! A span that its handles share.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use http::HeaderMap;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, Key, KeyValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use super::attribute::ERROR_TYPE;
use super::context::inject;
use crate::settings::Propagation;

/// A span of a trace. It ends when its last handle is dropped, or at [`TraceSpan::stop`].
///
/// Without an exporter, and for a request that is not sampled, the handle is empty, and so are
/// those of its children: every operation is a comparison with `None`.
#[derive(Clone, Default)]
pub(crate) struct TraceSpan(Option<Arc<Recording>>);

/// A span that is recorded.
struct Recording {
    span: Mutex<Span>,
    context: SpanContext,
    tracer: SdkTracer,
    /// Set once the span has failed.
    failed: OnceLock<()>,
    /// The end, if it is earlier than the drop of the last handle.
    ended_at: OnceLock<SystemTime>,
    policy: Policy,
}

/// The rules for all spans of a gateway.
#[derive(Clone, Copy)]
pub(crate) struct Policy {
    /// Whether contexts pass from callers to traces, and from traces to upstreams.
    pub(crate) propagation: Propagation,
    /// Whether spans have the text of items.
    pub(crate) has_content: bool,
}

impl TraceSpan {
    /// A handle of a span that was just started; an empty one if the span is not sampled.
    pub(crate) fn new(span: Span, tracer: &SdkTracer, policy: Policy) -> Self {
        if !span.is_recording() {
            return Self::default();
        }
        let context = span.span_context().clone();
        let (span, tracer) = (Mutex::new(span), tracer.clone());
        Self(Some(Arc::new(Recording {
            span,
            context,
            tracer,
            failed: OnceLock::new(),
            ended_at: OnceLock::new(),
            policy,
        })))
    }

    /// Starts a child.
    pub(crate) fn child(&self, build: impl FnOnce() -> SpanBuilder) -> Self {
        let Some(parent) = &self.0 else { return Self::default() };
        let context = Context::new().with_remote_span_context(parent.context.clone());
        let span = parent.tracer.build_with_context(build(), &context);
        Self::new(span, &parent.tracer, parent.policy)
    }

    /// The context for requests that this span causes; `None` for an empty handle.
    pub(crate) fn context(&self) -> Option<&SpanContext> {
        self.0.as_deref().map(|recording| &recording.context)
    }

    /// Replaces the context in the headers of a request that this span causes.
    pub(crate) fn inject(&self, headers: &mut HeaderMap) {
        if let Some(recording) = &self.0
            && recording.policy.propagation == Propagation::TraceContext
        {
            inject(&recording.context, headers);
        }
    }

    /// Whether the span is recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the span may have the text of items.
    pub(crate) fn has_content(&self) -> bool {
        self.0.as_deref().is_some_and(|recording| recording.policy.has_content)
    }

    /// Adds attributes, which `attributes` makes only if the span is recorded.
    pub(crate) fn record<I: IntoIterator<Item = KeyValue>>(&self, attributes: impl FnOnce() -> I) {
        let Some(recording) = &self.0 else { return };
        let attributes = attributes();
        recording.with_span(|span| span.set_attributes(attributes));
    }

    /// Sets one attribute.
    pub(crate) fn set(&self, key: &'static str, value: impl Into<Value>) {
        if let Some(recording) = &self.0 {
            let attribute = KeyValue::new(key, value);
            recording.with_span(|span| span.set_attribute(attribute));
        }
    }

    /// Adds an event.
    pub(crate) fn add_event(&self, name: &'static str, attributes: Vec<KeyValue>) {
        if let Some(recording) = &self.0 {
            recording.with_span(|span| span.add_event(name, attributes));
        }
    }

    /// Replaces the name.
    pub(crate) fn rename(&self, name: impl FnOnce() -> String) {
        if let Some(recording) = &self.0 {
            let name = name();
            recording.with_span(|span| span.update_name(name));
        }
    }

    /// Adds a link to another span.
    pub(crate) fn link_to(&self, other: Option<&SpanContext>) {
        if let (Some(recording), Some(other)) = (&self.0, other) {
            recording.with_span(|span| span.add_link(other.clone(), Vec::new()));
        }
    }

    /// Marks the span as failed with this class of error. The first error counts.
    pub(crate) fn fail(&self, error_type: &str) {
        let Some(recording) = &self.0 else { return };
        if recording.failed.set(()).is_ok() {
            let error_type = KeyValue::new(ERROR_TYPE, error_type.to_owned());
            recording.with_span(|span| {
                span.set_attribute(error_type);
                span.set_status(Status::error(""));
            });
        }
    }

    /// Whether the span is recorded as failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.0.as_deref().is_some_and(|recording| recording.failed.get().is_some())
    }

    /// Sets the end of the span to now. Attributes can still be added.
    pub(crate) fn stop(&self) {
        if let Some(recording) = &self.0 {
            recording.ended_at.get_or_init(opentelemetry::time::now);
        }
    }
}

impl Recording {
    /// Each change is one step, so a panic elsewhere cannot leave it inconsistent.
    fn with_span(&self, change: impl FnOnce(&mut Span)) {
        change(&mut self.span.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let span = self.span.get_mut().unwrap_or_else(PoisonError::into_inner);
        match self.ended_at.get() {
            Some(ended_at) => span.end_with_timestamp(*ended_at),
            None => span.end(),
        }
    }
}

/// Shows the ids only.
impl fmt::Debug for TraceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceSpan").field(&self.context().map(SpanContext::span_id)).finish()
    }
}

/// An attribute, if it has a value.
pub(crate) fn optional(key: &'static str, value: Option<impl Into<Value>>) -> Option<KeyValue> {
    value.map(|value| KeyValue::new(Key::from_static_str(key), value))
}

/// An attribute with a number. OTLP has signed numbers only.
pub(crate) fn count(key: &'static str, number: impl TryInto<i64>) -> KeyValue {
    KeyValue::new(key, number.try_into().unwrap_or(i64::MAX))
}
