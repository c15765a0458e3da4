//! Starts the spans of requests.

use std::time::Duration;

use http::HeaderMap;
use opentelemetry::Context;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, TraceContextExt as _, Tracer as _,
};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use super::context::inject;
use super::handle::{Policy, TraceSpan};
use crate::settings::Propagation;

/// The time limit for exporting the last spans.
const FLUSH: Duration = Duration::from_secs(5);

/// Starts the spans of requests. Without an exporter it starts none.
#[derive(Default)]
pub(crate) struct Tracer(Option<Tracing>);

/// The tracing of a gateway with an exporter.
pub(crate) struct Tracing {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    policy: Policy,
}

impl Tracer {
    /// Starts spans of this provider.
    pub(crate) fn new(provider: SdkTracerProvider, tracer: SdkTracer, policy: Policy) -> Self {
        Self(Some(Tracing { provider, tracer, policy }))
    }

    pub(crate) fn tracing(&self) -> Option<&Tracing> {
        self.0.as_ref()
    }

    /// Exports the remaining spans, and starts no more. The error is a clause.
    pub(crate) async fn shut_down(&self) -> Result<(), String> {
        let Some(tracing) = &self.0 else { return Ok(()) };
        let provider = tracing.provider.clone();
        // The call waits for the thread that exports.
        let flushed = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH));
        let flushed: OTelSdkResult = flushed.await.map_err(|error| error.to_string())?;
        flushed.map_err(|error| error.to_string())
    }
}

/// A gateway that ends without [`Tracer::shut_down`] loses its last spans. The thread that exports
/// ends on its own time: a drop never waits for it.
impl Drop for Tracing {
    fn drop(&mut self) {
        let provider = self.provider.clone();
        std::thread::spawn(move || drop(provider.shutdown_with_timeout(FLUSH)));
    }
}

impl Tracing {
    /// Starts the first span of this process in a trace: a child of `parent`, or the root. Returns
    /// its context also if it is not sampled.
    pub(crate) fn start(
        &self,
        builder: SpanBuilder,
        parent: Option<SpanContext>,
    ) -> (TraceSpan, SpanContext) {
        let parent = match parent {
            Some(parent) if self.policy.propagation == Propagation::TraceContext => {
                Context::new().with_remote_span_context(parent)
            }
            _ => Context::new(),
        };
        let span = self.tracer.build_with_context(builder, &parent);
        let context = span.span_context().clone();
        (TraceSpan::new(span, &self.tracer, self.policy), context)
    }

    /// Replaces the context in the headers of a request.
    pub(crate) fn inject(&self, context: &SpanContext, headers: &mut HeaderMap) {
        if self.policy.propagation == Propagation::TraceContext {
            inject(context, headers);
        }
    }
}
