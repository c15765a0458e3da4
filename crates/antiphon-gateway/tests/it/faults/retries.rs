//! An upstream that fails before it says anything is asked again.

use antiphon_gateway::settings::Retries;
use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{APIS, Dialect, RESPONSES, distant_retries, immediate_retries};
use crate::support::{MODEL, MODES, Mode, World, ask, frames_until};

async fn world((api, _): Dialect, retries: Retries) -> World {
    World::with(|settings| {
        settings.upstreams[0].api = api;
        settings.upstreams[0].retries = retries;
    })
    .await
}

fn status(status: u16) -> Reply {
    let body = json!({"error": {"message": "Not now.", "type": "server_error"}});
    Reply::json(StatusCode::from_u16(status).expect("it is a status"), &body)
}

fn greeting() -> Answer {
    Answer::new(MODEL).message("Hello there")
}

/// What may pass: by status, by a connection that ends, by an answer that fails at its beginning.
fn passing((_, api): Dialect) -> Vec<Reply> {
    let frames = greeting().frames_for(api);
    let failed = Answer::new(MODEL).failed("server_error", "Try again.").frames_for(api);
    let error = json!({"error": {"message": "Try again.", "type": "server_error"}});
    let mut passing: Vec<Reply> =
        [408, 409, 429, 500, 502, 503, 504, 529].into_iter().map(status).collect();
    passing.extend([
        Reply::hangup(),
        Reply::sse(frames.clone()).break_after(0),
        Reply::sse(frames.clone()).end_after(0),
        Reply::sse(frames.clone()).break_after(1),
        Reply::sse(frames).end_after(1),
        Reply::sse(failed),
        Reply::json(StatusCode::OK, &error),
    ]);
    passing
}

#[tokio::test]
async fn transient_failure_is_retried() {
    for dialect in APIS {
        for mode in MODES {
            let world = world(dialect, immediate_retries(1)).await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            for failure in passing(dialect) {
                let asked = world.times_asked();
                world.script(failure.clone());

                let turn = client.turn(mode, &ask("Hello").within(&conversation)).await;

                assert_eq!(turn.text(), "Noted.", "after {failure:?}");
                assert_eq!(world.times_asked(), asked + 2, "after {failure:?}");
                assert_eq!(world.request(asked).await.raw, world.request(asked + 1).await.raw);
                assert_eq!(client.report(turn.id()).await["retries"], 1);
            }
            assert_eq!(client.items(&conversation).await.len(), 2 * passing(dialect).len());
        }
    }
}

#[tokio::test]
async fn failure_after_output_is_not_retried() {
    for mode in MODES {
        let world = world(RESPONSES, immediate_retries(2)).await;
        let client = world.client();
        let begun = frames_until(&greeting(), "response.output_item.added");
        world.script(Reply::sse(greeting().frames()).break_after(begun));

        let received = client.attempt(mode, &ask("Hello")).await;

        match mode {
            Mode::Whole => drop(received.unwrap_err().server_error()),
            Mode::Streamed => assert_eq!(received.unwrap().status(), "failed"),
        }
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn permanent_failure_is_not_retried() {
    let world = world(RESPONSES, immediate_retries(2)).await;
    let client = world.client();
    let mut refusals: Vec<(u16, Reply)> =
        [400, 401, 403, 404, 413, 422, 501].map(|code| (code, status(code))).into();
    refusals.push((503, status(503).header("x-should-retry", "false")));
    for (code, refusal) in refusals {
        let asked = world.times_asked();
        world.script(refusal);
        assert_eq!(client.create(Mode::Whole, &ask("Hello")).await.status(), code);
        assert_eq!(world.times_asked(), asked + 1, "{code}");
    }
}

#[tokio::test]
async fn retry_header_outranks_the_status() {
    let world = world(RESPONSES, immediate_retries(1)).await;
    world.script(status(400).header("x-should-retry", "true"));
    assert_eq!(world.client().respond(&ask("Hello")).await.text(), "Noted.");
}

#[tokio::test]
async fn last_failure_is_returned_after_all_retries() {
    for mode in MODES {
        let world = world(RESPONSES, immediate_retries(2)).await;
        let client = world.client();
        for code in [500, 502, 503] {
            world.script(status(code));
        }
        assert_eq!(client.create(mode, &ask("Hello")).await.status(), 503);
        assert_eq!(world.times_asked(), 3);
    }
}

#[tokio::test]
async fn late_rejection_ends_the_stream() {
    let begun = Reply::sse(greeting().frames()).break_after(2);
    let limit = json!({"error": {
        "message": "Slow down.", "type": "requests", "param": "", "code": "rate_limit_exceeded",
    }});
    let limited = || Reply::json(StatusCode::TOO_MANY_REQUESTS, &limit).header("retry-after", "99");

    let world = world(RESPONSES, immediate_retries(2)).await;
    let client = world.client();
    world.script(begun.clone());
    world.script(limited());
    let turn = client.turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(
        turn.response["error"],
        json!({"code": "rate_limit_exceeded", "message": "Slow down."})
    );

    world.script(begun);
    world.script(limited());
    let refused = client.create(Mode::Whole, &ask("Hello")).await;
    assert_eq!((refused.status(), refused.header("retry-after")), (429, Some("99")));
    assert_eq!(refused.body(), &limit.to_string());
}

#[tokio::test]
async fn requested_delay_replaces_the_planned_one() {
    for (name, value) in [("retry-after-ms", "5"), ("retry-after", "0")] {
        let world = world(RESPONSES, distant_retries(1)).await;
        world.script(status(429).header(name, value));
        assert_eq!(world.client().respond(&ask("Hello")).await.text(), "Noted.", "{name}");
    }
}

#[tokio::test]
async fn longer_requested_delay_passes_to_the_caller() {
    for mode in MODES {
        let world = world(RESPONSES, immediate_retries(2)).await;
        world.script(status(429).header("retry-after", "21"));
        let refused = world.client().create(mode, &ask("Hello")).await;
        assert_eq!((refused.status(), refused.header("retry-after")), (429, Some("21")));
        assert_eq!(world.times_asked(), 1);
    }
}

#[tokio::test]
async fn disconnect_ends_the_wait_for_a_retry() {
    let world = world(RESPONSES, distant_retries(1)).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);

    // Before the answer begins.
    world.script(status(500));
    let asking = say("Hello");
    tokio::select! {
        _ = client.create(Mode::Whole, &asking) => panic!("there is no answer yet"),
        _ = world.request(0) => {}
    }
    assert_eq!(client.respond(&say("My color is purple")).await.text(), "Noted.");

    // After its beginning was told.
    world.script(Reply::sse(greeting().frames()).break_after(2));
    let mut events = client.stream(&say("My dog is Biscuit")).await;
    let left = events.response_id().await;
    drop(events);
    assert_eq!(client.wait_until_settled(&left).await["status"], "cancelled");
    let recalled = client.respond(&say("What is my color and my dog?")).await;
    assert_eq!(recalled.text(), "purple, Biscuit");
}

#[tokio::test]
async fn busy_upstream_is_not_retried() {
    let world = World::with(|settings| {
        settings.upstreams[0].retries = distant_retries(2);
        settings.upstreams[0].max_open = Some(1);
    })
    .await;
    let client = world.client();
    let exchange = world.script(Reply::sse(greeting().frames()).hang_after(2));
    let mut first = client.stream(&ask("Hello")).await;
    first.response_id().await;

    let refused = client.create(Mode::Whole, &ask("Hello")).await;

    assert_eq!(refused.status(), 429);
    assert_eq!(world.times_asked(), 1);
    exchange.release_all();
    first.until("response.completed").await;
}

#[tokio::test]
async fn permit_is_released_before_the_retry() {
    let world = World::with(|settings| {
        settings.upstreams[0].retries = immediate_retries(1);
        settings.upstreams[0].max_open = Some(1);
    })
    .await;
    world.script(Reply::sse(greeting().frames()).end_after(2));
    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(turn.status(), "completed");
    assert_eq!(turn.events.iter().filter(|event| event.name == "response.created").count(), 1);
    assert_ne!(turn.response["usage"], Value::Null);
}
