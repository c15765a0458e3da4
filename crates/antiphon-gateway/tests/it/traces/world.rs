//! A gateway that exports its traces, and their receiver.

use std::time::Duration;

use antiphon_gateway::settings::{OtlpExporter, Settings, Telemetry, TraceExport};
use antiphon_testkit::otlp::{self, Kind, Receiver, Span};

use super::documented::undocumented;
use crate::support::{World, soon};

/// A gateway that exports its traces, and their receiver.
pub(crate) struct TracedWorld {
    pub(crate) world: World,
    pub(crate) receiver: Receiver,
}

impl TracedWorld {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// A gateway with settings that differ from the usual ones.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let receiver = Receiver::start().await;
        let telemetry = telemetry(&receiver);
        let world = World::with(|settings| {
            settings.telemetry = telemetry;
            change(settings);
        })
        .await;
        Self { world, receiver }
    }

    /// The traces of the first `count` requests for turns, in the order of their starts. Each is
    /// complete and well-formed.
    pub(crate) async fn traces(&self, count: usize) -> Vec<Trace> {
        self.traces_with(count, is_turn).await
    }

    /// The trace of the only request for a turn.
    pub(crate) async fn trace(&self) -> Trace {
        self.traces(1).await.remove(0)
    }

    /// The traces of the first `count` spans that `is_awaited` accepts, which end last in them.
    pub(crate) async fn traces_with(
        &self,
        count: usize,
        is_awaited: impl Fn(&Span) -> bool,
    ) -> Vec<Trace> {
        received(&self.receiver, count, is_awaited).await
    }
}

/// The traces of the first `count` spans that `is_awaited` accepts, which end last in them. Each is
/// complete and well-formed.
pub(crate) async fn received(
    receiver: &Receiver,
    count: usize,
    is_awaited: impl Fn(&Span) -> bool,
) -> Vec<Trace> {
    let find = |spans: &[Span]| {
        let mut found: Vec<_> = spans.iter().filter(|span| is_awaited(span)).collect();
        found.sort_by_key(|span| span.start);
        let traces = found.iter().map(|span| Trace::of(&span.trace, spans));
        (found.len() >= count).then(|| traces.collect::<Vec<_>>())
    };
    let traces = soon("the spans arrive", receiver.wait(find)).await;
    assert_eq!(traces.len(), count);
    for trace in &traces {
        assert_eq!(otlp::faults(&trace.0), [""; 0], "{}", trace.tree());
        assert_eq!(undocumented(&trace.0), [""; 0], "docs/tracing.md lists all attributes");
    }
    traces
}

/// Whether it is the span of a request for a turn.
pub(crate) fn is_turn(span: &Span) -> bool {
    span.name == "POST /v1/responses"
}

/// Whether it is the span of a background turn.
pub(crate) fn is_background_turn(span: &Span) -> bool {
    span.name == "background turn"
}

/// The export to this receiver, after each few spans.
pub(crate) fn telemetry(receiver: &Receiver) -> Telemetry {
    let endpoint = format!("{}/v1/traces", receiver.endpoint());
    let endpoint = endpoint.parse().expect("it is a URL");
    let traces = TraceExport {
        exporter: OtlpExporter { endpoint, ..OtlpExporter::default() },
        schedule_delay: Duration::from_millis(10),
        ..TraceExport::default()
    };
    let resource = vec![("service.name".to_owned(), "antiphon".to_owned())];
    Telemetry { traces: Some(traces), resource, ..Telemetry::default() }
}

/// The spans of a trace, in the order of their starts.
#[derive(Debug)]
pub(crate) struct Trace(pub(crate) Vec<Span>);

impl Trace {
    fn of(trace: &str, spans: &[Span]) -> Self {
        let mut spans: Vec<_> = spans.iter().filter(|it| it.trace == trace).cloned().collect();
        spans.sort_by_key(|span| span.start);
        Self(spans)
    }

    /// The names of the spans, each below its parent.
    pub(crate) fn tree(&self) -> String {
        let is_root = |span: &&Span| !self.0.iter().any(|parent| parent.id == span.parent);
        let roots = self.0.iter().filter(is_root);
        roots.map(|root| self.branch(root, 0)).collect()
    }

    fn branch(&self, span: &Span, depth: usize) -> String {
        let line = format!("{}{}\n", "  ".repeat(depth), span.name);
        let children = self.0.iter().filter(|child| child.parent == span.id);
        line + &children.map(|child| self.branch(child, depth + 1)).collect::<String>()
    }

    /// The only span with this name.
    pub(crate) fn span(&self, name: &str) -> &Span {
        let mut found = self.0.iter().filter(|span| span.name == name);
        let (Some(span), None) = (found.next(), found.next()) else {
            panic!("there is not one {name}: {}", self.tree())
        };
        span
    }

    /// The span of the model's answer.
    pub(crate) fn chat(&self) -> &Span {
        let chat = self.0.iter().find(|span| span.name.starts_with("chat "));
        chat.unwrap_or_else(|| panic!("no model answers: {}", self.tree()))
    }

    /// The spans of the requests to the upstream.
    pub(crate) fn attempts(&self) -> Vec<&Span> {
        let is_attempt =
            |span: &&Span| span.kind == Kind::Client && !span.name.starts_with("chat ");
        self.0.iter().filter(is_attempt).collect()
    }
}
