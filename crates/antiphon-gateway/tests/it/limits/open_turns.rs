//! How many turns of a tenant may be open.

use antiphon_mock::{Answer, Reply};

use crate::support::{MODEL, MODES, Mode, World, ask, frames_until, soon};

async fn with_one_open_turn() -> World {
    World::with(|settings| settings.limits.max_open_turns = 1).await
}

#[tokio::test]
async fn turn_beyond_the_limit_is_rejected() {
    let world = with_one_open_turn().await;
    let client = world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Tell me a tale")).await;
    events.response_id().await;

    for mode in MODES {
        let answer = client.create(mode, &ask("Hello")).await;
        let refused = answer.refused();
        assert_eq!(refused.status, 429);
        assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_eq!(world.times_asked(), 1);
    let others = world.caller("token-of-bob").respond(&ask("Hello")).await;
    assert_eq!(others.status(), "completed");

    exchange.release_all();
    events.all().await;
    client.respond(&ask("Hello")).await;
}

#[tokio::test]
async fn sequential_turns_never_exceed_the_limit() {
    let world = with_one_open_turn().await;
    let client = world.client();
    for _ in 0..10 {
        for mode in MODES {
            client.turn(mode, &ask("Hello")).await;
        }
    }
}

#[tokio::test]
async fn rejected_turn_does_not_count() {
    let world = with_one_open_turn().await;
    let client = world.client();
    assert_eq!(client.post_raw("/v1/responses", "{").await.status(), 400);
    for mode in MODES {
        assert_eq!(client.create(mode, &ask("Hello").after("resp_x")).await.status(), 400);
    }
    client.respond(&ask("Hello")).await;
}

#[tokio::test]
async fn disconnected_turn_does_not_stay_open() {
    let world = with_one_open_turn().await;
    let client = world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Tell me a tale")).await;
    let id = events.response_id().await;

    drop(events);

    client.wait_until_settled(&id).await;
    // What it has kept is seen a moment before it has ended.
    let admitted =
        async { while client.create(Mode::Whole, &ask("Hello")).await.status() == 429 {} };
    soon("the turn has ended", admitted).await;
    client.respond(&ask("Hello")).await;
}
