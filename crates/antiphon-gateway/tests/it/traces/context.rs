//! The contexts of callers and for upstreams: W3C Trace Context.

use antiphon_gateway::settings::Propagation;
use http::Method;

use super::TracedWorld;
use crate::support::{MODES, Mode, World, ask};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-{SPAN}-{flags}")
}

#[tokio::test]
async fn trace_of_the_caller_continues_to_the_upstream() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let client = traced.world.client().with_header("traceparent", &parent("01"));
        let client = client.with_header("tracestate", "vendor=value");
        client.turn(mode, &ask("Hello")).await;

        let trace = traced.trace().await;

        let root = trace.span("POST /v1/responses");
        assert_eq!((&*root.trace, &*root.parent, &*root.state), (TRACE, SPAN, "vendor=value"));
        assert!(root.has_remote_parent);
        let sent = traced.world.request(0).await;
        let attempt = &trace.attempts()[0].id;
        assert_eq!(sent.headers["traceparent"], format!("00-{TRACE}-{attempt}-01"));
        assert_eq!(sent.headers["tracestate"], "vendor=value");
    }
}

#[tokio::test]
async fn request_without_a_context_starts_a_trace() {
    let traced = TracedWorld::new().await;
    for wrong in ["", "00-0-0-01", &parent("01")[..54]] {
        traced.world.client().with_header("traceparent", wrong).respond(&ask("Hello")).await;
    }
    let traces = traced.traces(3).await;
    for (index, trace) in traces.iter().enumerate() {
        let root = trace.span("POST /v1/responses");
        assert_eq!((&*root.parent, root.has_remote_parent), ("", false));
        let attempt = &trace.attempts()[0].id;
        let sent = traced.world.request(index).await;
        assert_eq!(sent.headers["traceparent"], format!("00-{}-{attempt}-01", root.trace));
        assert_eq!(sent.headers.get("tracestate"), None);
    }
}

#[tokio::test]
async fn unsampled_trace_reaches_the_upstream_without_spans() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    client.clone().with_header("traceparent", &parent("00")).respond(&ask("Hello")).await;
    client.respond(&ask("Hello")).await;

    traced.trace().await;

    let sent = traced.world.request(0).await;
    let header = sent.headers["traceparent"].to_str().unwrap();
    assert!(header.starts_with(&format!("00-{TRACE}-")) && header.ends_with("-00"), "{header}");
    assert_ne!(header, parent("00"), "it is a context of the gateway");
    assert!(traced.receiver.spans().iter().all(|span| span.trace != TRACE));
}

#[tokio::test]
async fn contexts_pass_unchanged_without_propagation() {
    let traced = TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        traces.propagation = Propagation::Nothing;
    })
    .await;
    let client = traced.world.client().with_header("traceparent", &parent("01"));
    client.turn(Mode::Streamed, &ask("Hello")).await;

    let trace = traced.trace().await;

    assert_ne!(trace.span("POST /v1/responses").trace, TRACE);
    assert_eq!(traced.world.request(0).await.headers["traceparent"], parent("01"));
}

#[tokio::test]
async fn contexts_pass_unchanged_without_an_exporter() {
    let world = World::new().await;
    let client = world.client().with_header("traceparent", &parent("01"));
    client.with_header("tracestate", "vendor=value").respond(&ask("Hello")).await;
    let sent = world.request(0).await;
    assert_eq!(sent.headers["traceparent"], parent("01"));
    assert_eq!(sent.headers["tracestate"], "vendor=value");
}

#[tokio::test]
async fn request_that_passes_through_belongs_to_its_trace() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client().with_header("traceparent", &parent("01"));
    client.send(Method::POST, "/v1/embeddings", r#"{"model":"m","input":"x"}"#).await;

    let trace = traced.traces_with(1, |span| span.name == "POST /v1/{*path}").await.remove(0);

    let root = trace.span("POST /v1/{*path}");
    assert_eq!((&*root.trace, root.text("url.path")), (TRACE, "/v1/embeddings"));
    let sent = traced.world.request(0).await;
    let [attempt] = trace.attempts()[..] else { panic!("{}", trace.tree()) };
    assert_eq!(sent.headers["traceparent"], format!("00-{TRACE}-{}-01", attempt.id));
}
