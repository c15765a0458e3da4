//! Turns of a WebSocket.

use antiphon_testkit::otlp::{Kind, Span};
use serde_json::json;

use super::TracedWorld;
use crate::support::{ask, create};

const TURN: &str = "\
response.create
  open
  load
  reconcile
  send
  chat fake-model
    POST /responses
  stream
  commit
";

fn is_turn(span: &Span) -> bool {
    span.name == "response.create"
}

#[tokio::test]
async fn each_turn_is_a_trace_with_a_link_to_its_connection() {
    let traced = TracedWorld::new().await;
    let mut socket = traced.world.client().socket().await;
    let first = socket.turn(&ask("Hello")).await;
    socket.turn(&ask("And now?").after(first.id())).await;

    let traces = traced.traces_with(2, is_turn).await;

    let is_connection = |span: &Span| span.name == "GET /v1/responses";
    let connection = traced.traces_with(1, is_connection).await.remove(0);
    let connection = connection.span("GET /v1/responses");
    assert_eq!(connection.int("http.response.status_code"), Some(101));
    assert_ne!(traces[0].0[0].trace, traces[1].0[0].trace);
    for trace in &traces {
        assert_eq!(trace.tree(), TURN);
        let turn = trace.span("response.create");
        assert_eq!((turn.kind, &*turn.parent), (Kind::Server, ""));
        assert_eq!(turn.links, [(connection.trace.clone(), connection.id.clone())]);
        assert_eq!(turn.text("antiphon.connection"), connection.text("antiphon.request.id"));
        assert_eq!(turn.text("antiphon.turn.outcome"), "completed");
    }
}

#[tokio::test]
async fn context_in_the_event_is_the_parent() {
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traced = TracedWorld::new().await;
    let mut socket = traced.world.client().socket().await;
    // As Codex sends it.
    let metadata = json!({
        "ws_request_header_traceparent": format!("00-{TRACE}-00f067aa0ba902b7-01"),
        "ws_request_header_tracestate": "codex=1",
    });
    socket.send(&create(&ask("Hello").field("client_metadata", metadata))).await;
    socket.ended().await;

    let trace = traced.traces_with(1, is_turn).await.remove(0);

    let turn = trace.span("response.create");
    assert_eq!((&*turn.trace, &*turn.parent, &*turn.state), (TRACE, "00f067aa0ba902b7", "codex=1"));
    assert!(turn.has_remote_parent);
    let sent = traced.world.request(0).await;
    let attempt = &trace.attempts()[0].id;
    assert_eq!(sent.headers["traceparent"], format!("00-{TRACE}-{attempt}-01"));
    assert_eq!(sent.headers["tracestate"], "codex=1");
}
