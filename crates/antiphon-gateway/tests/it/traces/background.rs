//! Turns in the background.

use antiphon_gateway::settings::Secret;
use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp::{Kind, Span};

use super::{TracedWorld, is_background_turn};
use crate::support::{Ask, MODEL, Mode, ask, soon, text};

fn in_background(input: &str) -> Ask {
    ask(input).field("background", true)
}

const BACKGROUND: &str = "\
POST /v1/responses
  background turn
    open
    load
    reconcile
    send
    chat fake-model
      POST /responses
    stream
    commit
";

#[tokio::test]
async fn background_turn_outlives_its_request() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    let exchange = traced.world.script(Reply::sse(answer.frames()).gated().withhold_head());
    let queued = client.create(Mode::Whole, &in_background("Tell me a tale")).await.json();
    let request = |spans: &[Span]| spans.iter().find(|it| it.kind == Kind::Server).cloned();
    let request = soon("the request ends", traced.receiver.wait(request)).await;
    exchange.release_all();
    client.wait_until_ended(text(&queued["id"])).await;

    let trace = traced.traces_with(1, is_background_turn).await.remove(0);

    assert_eq!(trace.tree(), BACKGROUND);
    let turn = trace.span("background turn");
    assert!(turn.end > request.end);
    assert_eq!((turn.kind, turn.text("antiphon.turn.outcome")), (Kind::Internal, "completed"));
    assert_eq!(turn.text("gen_ai.response.id"), text(&queued["id"]));
    assert_eq!(turn.text("antiphon.request.id"), request.text("antiphon.request.id"));
    assert_eq!(request.int("http.response.status_code"), Some(200));
}

#[tokio::test]
async fn refused_background_turn_has_its_error() {
    let traced = TracedWorld::new().await;
    let asking = in_background("Hello").after("resp_unknown");
    traced.world.client().refused(Mode::Whole, &asking).await;

    let trace = traced.trace().await;

    let turn = trace.span("background turn");
    assert_eq!(turn.text("antiphon.turn.outcome"), "refused");
    assert_eq!(turn.text("error.type"), "previous_response_not_found");
}

#[tokio::test]
async fn cancelled_background_turn_is_recorded() {
    let traced = TracedWorld::new().await;
    let client = traced.world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    traced.world.script(Reply::sse(answer.frames()).gated().withhold_head());
    let queued = client.create(Mode::Whole, &in_background("Tell me a tale")).await.json();
    client.wait_until_in_progress(text(&queued["id"])).await;
    client.cancel(text(&queued["id"])).await;

    let trace = traced.traces_with(1, is_background_turn).await.remove(0);

    assert_eq!(trace.span("background turn").text("antiphon.turn.outcome"), "cancelled");
    assert_eq!(trace.chat().text("error.type"), "cancelled");
}

#[tokio::test]
async fn resumed_turn_belongs_to_the_trace_of_its_request() {
    let mut traced = TracedWorld::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    traced.world.script(Reply::sse(answer.frames()).gated().withhold_head());
    let client = traced.world.client();
    let queued = client.create(Mode::Whole, &in_background("Hello")).await.json();
    let request = |spans: &[Span]| spans.iter().find(|it| it.kind == Kind::Server).cloned();
    let request = soon("the request ends", traced.receiver.wait(request)).await;
    traced.world.request(0).await;

    traced.world.kill_and_start().await;

    traced.world.client().wait_until_ended(text(&queued["id"])).await;
    let find = |spans: &[Span]| spans.iter().find(|it| is_background_turn(it)).cloned();
    let turn = soon("the turn ends", traced.receiver.wait(find)).await;
    assert_eq!((turn.trace, turn.has_remote_parent), (request.trace, true));
}
