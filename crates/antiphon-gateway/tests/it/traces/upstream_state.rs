//! Turns whose upstream owns the state.

use antiphon_testkit::otlp::Receiver;
use serde_json::json;

use super::{Trace, is_turn, received, telemetry};
use crate::support::{MODES, ask, call, typed_user};
use crate::upstream_state::world::World;

async fn traced_world() -> (World, Receiver) {
    let receiver = Receiver::start().await;
    let telemetry = telemetry(&receiver);
    (World::with(|settings| settings.telemetry = telemetry).await, receiver)
}

/// The names of the direct children of the turn.
fn stages(trace: &Trace) -> Vec<&str> {
    let root = &trace.0[0];
    let children = trace.0.iter().filter(|span| span.parent == root.id);
    children.map(|span| &*span.name).collect()
}

#[tokio::test]
async fn turn_has_a_span_for_each_stage() {
    for mode in MODES {
        let (world, receiver) = traced_world().await;
        let conversation = world.conversation().await;
        let turn = world.client().turn(mode, &ask("My dog is Rex.").within(&conversation)).await;

        let trace = received(&receiver, 1, is_turn).await.remove(0);

        let expected = ["open", "load", "reconcile", "send", "chat fake-model", "stream", "commit"];
        let stages: Vec<_> =
            stages(&trace).into_iter().filter(|name| expected.contains(name)).collect();
        assert_eq!(stages, expected, "{}", trace.tree());
        let root = trace.span("POST /v1/responses");
        assert_eq!(root.text("gen_ai.response.id"), turn.id());
        assert_eq!(root.text("antiphon.turn.outcome"), "completed");
        assert_eq!(root.int("antiphon.items.sent"), Some(1));
        assert_eq!(trace.chat().text("gen_ai.response.id"), turn.id());
        assert!(trace.chat().int("gen_ai.usage.input_tokens").is_some());
    }
}

#[tokio::test]
async fn sync_of_a_ledger_has_spans() {
    let (world, receiver) = traced_world().await;
    let conversation = world.conversation().await;
    let before = json!({"items": [typed_user("My dog is Rex.")]});
    let path = format!("/v1/conversations/{conversation}/items");
    world.past_gateway().post(&path, &before).await.json();
    world.client().respond(&ask("What is my dog?").within(&conversation)).await;

    let trace = received(&receiver, 1, is_turn).await.remove(0);

    assert!(stages(&trace).contains(&"sync"), "{}", trace.tree());
    let lists = trace.attempts().into_iter();
    let lists = lists.filter(|span| span.name == "GET /conversations/{id}/items").count();
    assert!(lists > 0, "{}", trace.tree());
}

#[tokio::test]
async fn queued_turn_ends_with_its_request() {
    let (world, receiver) = traced_world().await;
    let asking = ask("Tell me a tale").field("background", true);
    let response = world.client().post("/v1/responses", asking.body()).await.json();
    assert!(["queued", "in_progress"].contains(&response["status"].as_str().unwrap()));

    let trace = received(&receiver, 1, is_turn).await.remove(0);

    assert_eq!(trace.span("POST /v1/responses").text("antiphon.turn.outcome"), "queued");
    trace.span("commit");
}

#[tokio::test]
async fn turn_that_is_sent_again_has_one_span_for_its_answer() {
    for mode in MODES {
        let (world, receiver) = traced_world().await;
        let conversation = world.conversation().await;
        world.client().turn(mode, &ask([typed_user("Hello.")]).within(&conversation)).await;
        world.past_gateway().add_items(&conversation, &[call("call_1", "hi")]).await;
        world.client().turn(mode, &ask([typed_user("Never mind.")]).within(&conversation)).await;

        let trace = received(&receiver, 2, is_turn).await.remove(1);

        let attempts = trace.attempts().into_iter().filter(|it| it.name == "POST /responses");
        let attempts: Vec<_> = attempts.map(|it| (&it.parent, it.text("error.type"))).collect();
        let chat = trace.chat();
        assert_eq!(attempts, [(&chat.id, "400"), (&chat.id, "")]);
        assert!(!chat.is_error);
        let sent = trace.0.iter().filter(|span| span.name == "send");
        assert_eq!(sent.map(|span| span.is_error).collect::<Vec<_>>(), [true, false]);
        let root = trace.span("POST /v1/responses");
        assert_eq!(root.int("antiphon.items.repaired"), Some(1));
    }
}

#[tokio::test]
async fn state_error_that_stays_fails_the_turn() {
    let (world, receiver) = traced_world().await;
    let asking = ask([typed_user("Hello.")]).after("resp_unknown");
    world.client().create(crate::support::Mode::Whole, &asking).await;

    let trace = received(&receiver, 1, is_turn).await.remove(0);

    let root = trace.span("POST /v1/responses");
    assert_eq!(root.text("antiphon.turn.outcome"), "refused");
    assert_eq!(root.text("error.type"), "previous_response_not_found", "{}", trace.tree());
}
