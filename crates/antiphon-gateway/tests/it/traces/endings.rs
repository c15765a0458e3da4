//! Clients that leave, and gateways that stop.

use antiphon_mock::{Answer, Reply};
use antiphon_testkit::otlp::Value;

use super::{TracedWorld, received};
use crate::support::{MODEL, MODES, Mode, ask, soon};

#[tokio::test]
async fn client_that_leaves_a_stream_cancels_the_turn() {
    let traced = TracedWorld::new().await;
    let answer = Answer::new(MODEL).message("Hello there");
    let exchange = traced.world.script(Reply::sse(answer.frames()).hang_after(6));
    let mut stream = traced.world.client().stream(&ask("Hello")).await;
    stream.response_id().await;
    drop(stream);
    traced.world.wait_for_disconnect(&exchange).await;

    let trace = traced.trace().await;

    let root = trace.span("POST /v1/responses");
    assert_eq!(root.text("antiphon.turn.outcome"), "disconnected");
    assert!(!root.is_error);
    let reasons = Value::List(vec![Value::Text("error".to_owned())]);
    assert_eq!(trace.chat().attributes["gen_ai.response.finish_reasons"], reasons);
    trace.span("commit");
}

#[tokio::test]
async fn client_that_leaves_before_the_answer_cancels_the_turn() {
    for mode in MODES {
        let traced = TracedWorld::new().await;
        let answer = Answer::new(MODEL).message("Hello there");
        let exchange = traced.world.script(Reply::sse(answer.frames()).withhold_head());
        let (client, asking) = (traced.world.client(), ask("Hello"));
        tokio::select! {
            _ = client.create(mode, &asking) => panic!("there is no answer yet"),
            _ = traced.world.request(0) => {}
        }
        traced.world.wait_for_disconnect(&exchange).await;

        let trace = traced.trace().await;

        let root = trace.span("POST /v1/responses");
        assert_eq!(root.text("antiphon.turn.outcome"), "disconnected");
        assert_eq!(root.int("http.response.status_code"), None);
        let chat = trace.chat();
        assert_eq!((chat.is_error, chat.text("error.type")), (true, "disconnected"));
    }
}

#[tokio::test]
async fn stop_exports_the_last_spans() {
    let mut traced = TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        traces.schedule_delay = std::time::Duration::from_hours(1);
    })
    .await;
    traced.world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(traced.receiver.exports().len(), 0);

    traced.world.stop().ended().await;

    assert_eq!(traced.receiver.exports().len(), 1);
    received(&traced.receiver, 1, super::is_turn).await;
}

#[tokio::test]
async fn stopped_gateway_refuses_within_a_trace() {
    let mut traced = TracedWorld::new().await;
    let answer = Answer::new(MODEL).message("Hello there");
    let exchange = traced.world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut stream = traced.world.client().stream(&ask("Hello")).await;
    stream.response_id().await;
    let late = traced.world.client();

    let stopping = traced.world.stop();
    let refused = async {
        loop {
            match late.try_create(Mode::Whole, &ask("Hello")).await {
                Some(answer) if answer.status() == 503 => break,
                Some(_) => {}
                None => break,
            }
        }
    };
    soon("the gateway refuses", refused).await;
    exchange.release_all();
    stream.all().await;
    stopping.ended().await;

    let spans = traced.receiver.spans();
    let refusals = spans.iter().filter(|span| span.int("http.response.status_code") == Some(503));
    assert!(refusals.clone().all(|span| span.is_error && span.text("error.type") == "503"));
}
