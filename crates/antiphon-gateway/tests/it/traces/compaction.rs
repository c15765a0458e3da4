//! Histories that are compacted.

use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp::Value;
use http::StatusCode;
use serde_json::json;

use super::TracedWorld;
use crate::support::{MODEL, ask};

fn script_summary(traced: &TracedWorld) {
    let answer = Answer::new(MODEL).message("The user's color is purple.");
    traced.world.script(Reply::json(StatusCode::OK, &answer.json()));
}

fn script_missing_route(traced: &TracedWorld) {
    traced.world.script(Reply::json(StatusCode::NOT_FOUND, &json!({"detail": "Not Found"})));
}

#[tokio::test]
async fn compaction_route_asks_the_model_in_its_trace() {
    let traced = TracedWorld::new().await;
    script_missing_route(&traced);
    script_summary(&traced);
    traced.world.client().post("/v1/responses/compact", ask("My color is purple").body()).await;

    let is_compaction = |span: &_| is_named(span, "POST /v1/responses/compact");
    let trace = traced.traces_with(1, is_compaction).await.remove(0);

    let tree = "\
POST /v1/responses/compact
  load
  reconcile
  POST /responses/compact
  chat fake-model
    POST /responses
";
    assert_eq!(trace.tree(), tree);
    let root = trace.span("POST /v1/responses/compact");
    assert_eq!(root.text("antiphon.turn.outcome"), "compacted");
}

fn is_named(span: &antiphon_testkit::otlp::Span, name: &str) -> bool {
    span.name == name
}

#[tokio::test]
async fn summary_of_a_turn_is_below_its_stage() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    let first = client.respond(&ask("My color is purple. ".repeat(300))).await;
    let error = json!({"error": {"message": "Unknown parameter: 'context_management'.",
        "type": "invalid_request_error", "param": "context_management",
        "code": "unknown_parameter"}});
    traced.world.script(Reply::json(StatusCode::BAD_REQUEST, &error));
    script_summary(&traced);
    let compacting = json!([{"type": "compaction", "compact_threshold": 1000}]);
    let question = ask("What is my color?").after(first.id());
    client.respond(&question.field("context_management", compacting)).await;

    let trace = traced.traces(2).await.remove(1);

    let compact = trace.span("compact");
    let chats: Vec<_> = trace.0.iter().filter(|it| it.name == "chat fake-model").collect();
    let root = trace.span("POST /v1/responses");
    let parents: Vec<_> = chats.iter().map(|chat| &*chat.parent).collect();
    assert_eq!(parents, [&*root.id, &compact.id, &root.id]);
    let is_error: Vec<_> = chats.iter().map(|chat| chat.is_error).collect();
    assert_eq!(is_error, [true, false, false]);
    assert_eq!(chats[2].attributes["gen_ai.conversation.compacted"], Value::Bool(true));
}
