//! The provider, or the store, fails in the middle of a turn.

use std::future;
use std::sync::Arc;
use std::time::Duration;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{Retries, Settings};
use antiphon_mock::{Answer, Frame, Reply, Script};
use http::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;

use super::world::{World, settings};
use crate::support::{Client, Faulty, MODEL, MODES, Mode, ask, frames_until, typed_user};

fn error_body(kind: &str, message: &str) -> serde_json::Value {
    json!({"error": {"type": kind, "code": null, "param": null, "message": message}})
}

#[tokio::test]
async fn unanswered_turn_causes_a_sync() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        world.provider.script(Reply::hangup());
        let refused = ask([typed_user("One.")]).within(&conversation);
        assert!(world.client().create(mode, &refused).await.status() >= 500);
        let learnt = world.times_learnt();

        world.client().turn(mode, &ask([typed_user("One.")]).within(&conversation)).await;

        assert_eq!(world.times_learnt(), learnt + 1);
        assert_eq!(world.holds(&conversation), ["user: One.", "assistant: Noted."]);
    }
}

#[tokio::test]
async fn possibly_started_request_is_not_retried() {
    let world = World::with(|settings| {
        settings.upstreams[0].retries = Retries { max: 3, ..Retries::default() };
    });
    let world = world.await;
    world.provider.script(Reply::hangup());
    let refused = world.client().create(Mode::Whole, &ask([typed_user("One.")])).await;
    assert!(refused.status() >= 500);
    assert_eq!(world.provider.turns().len(), 1);
}

#[tokio::test]
async fn rejected_request_is_retried_without_a_sync() {
    for mode in MODES {
        let world = World::with(|settings| {
            let first_delay = Duration::from_millis(1);
            settings.upstreams[0].retries = Retries { max: 1, first_delay, ..Retries::default() };
        });
        let world = world.await;
        let conversation = world.conversation().await;
        let asked = ask([typed_user("One.")]).within(&conversation);
        let busy = error_body("rate_limit_exceeded", "Slow down.");
        let busy = || Reply::json(StatusCode::TOO_MANY_REQUESTS, &busy);

        world.provider.script(busy());
        world.client().turn(mode, &asked).await;
        assert_eq!(world.holds(&conversation), ["user: One.", "assistant: Noted."]);

        world.provider.script(busy());
        world.provider.script(busy());
        let refused = ask([typed_user("Two.")]).within(&conversation);
        assert_eq!(world.client().create(mode, &refused).await.status(), 429);
        world.client().turn(mode, &refused).await;
        assert_eq!(world.times_learnt(), 1, "what it holds was known all the time");
    }
}

#[tokio::test]
async fn failure_before_the_first_event_is_an_error() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let error = json!({"type": "error", "code": "server_error", "message": "It broke."});
        world.provider.script(Reply::sse([Frame::event(&error)]));
        let refused = ask([typed_user("One.")]).within(&conversation);
        let refused = world.client().create(mode, &refused).await;
        assert_eq!(refused.server_error(), "It broke.");
        world.client().turn(mode, &ask([typed_user("Two.")]).within(&conversation)).await;
        assert_eq!(world.holds(&conversation), ["user: Two.", "assistant: Noted."]);
    }
}

#[tokio::test]
async fn interrupted_answer_fails_and_the_conversation_continues() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until_text = frames_until(&answer, "response.output_text.delta");
    world.provider.script(Script::from(answer).break_after(until_text));

    let asked = ask([typed_user("A story.")]).within(&conversation);
    let failed = world.client().turn(Mode::Streamed, &asked).await;
    assert_eq!(failed.status(), "failed");

    let again = ask([typed_user("A story."), typed_user("Please.")]).within(&conversation);
    world.client().turn(Mode::Streamed, &again).await;
    let holds = world.holds(&conversation);
    let users: Vec<_> = holds.iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(users, ["user: A story.", "user: Please."]);
}

#[tokio::test]
async fn unrecorded_response_is_not_sent() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let (client, store) = fragile(&world).await;
    store.skip_next_announcement();
    let asked = ask([typed_user("One.")]).within(&conversation);
    let refused = client.create(Mode::Streamed, &asked).await;
    assert!(refused.status() >= 500, "{:?}", refused.body());

    let again = ask([typed_user("One."), typed_user("Two.")]).within(&conversation);
    client.turn(Mode::Streamed, &again).await;
    let holds = world.holds(&conversation);
    assert_eq!(holds.iter().filter(|line| **line == "user: One.").count(), 1, "{holds:?}");
}

#[tokio::test]
async fn nothing_is_sent_without_the_stale_mark() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let (client, store) = fragile(&world).await;
        store.skip_next_stale_mark();
        let refused = ask([typed_user("One.")]).within(&conversation);
        assert!(client.create(mode, &refused).await.status() >= 500);
        assert_eq!(world.provider.turns().len(), 0);

        client.turn(mode, &ask([typed_user("One.")]).within(&conversation)).await;
        assert_eq!(world.holds(&conversation), ["user: One.", "assistant: Noted."]);
    }
}

#[tokio::test]
async fn store_failure_orphans_no_conversation() {
    let world = World::new().await;
    let (client, store) = fragile_with(&world, |settings| {
        settings.store.trusted_for = Duration::ZERO;
        settings.store.commit_wait = Duration::ZERO;
    })
    .await;
    let empty = json!({});
    let create = || client.post("/v1/conversations", &empty);
    let asked = || world.provider.requests().len();
    let before = asked();

    store.stop_writing();
    assert_eq!(create().await.status(), 503);
    for mode in MODES {
        let refused = client.create(mode, &ask([typed_user("One.")])).await;
        assert_eq!(refused.status(), 503);
    }
    assert_eq!(asked(), before, "the provider is not asked");

    store.recover();
    store.fail_adoptions(usize::MAX);
    let refused = create().await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let deleted = world.provider.requests().pop().expect("it was asked");
    assert_eq!(deleted.method, "DELETE");
    let id = deleted.path.rsplit('/').next().expect("it has an id");
    assert_eq!(world.provider.conversation_items(id), None);

    store.recover();
    assert_eq!(create().await.status(), 200);
}

#[tokio::test]
async fn new_conversation_is_recorded_once_the_store_works() {
    let world = World::new().await;
    let hour = Duration::from_hours(1);
    let (client, store) = fragile_with(&world, |settings| settings.store.commit_wait = hour).await;
    store.fail_adoptions(3);

    let conversation = client.new_conversation().await;

    client.respond(&ask([typed_user("One.")]).within(&conversation)).await;
    assert_eq!(world.holds(&conversation), ["user: One.", "assistant: Noted."]);
    assert_eq!(world.provider.requests().iter().filter(|it| it.method == "DELETE").count(), 0);
}

/// A caller of another gateway in front of the same provider, on a store that can be made to fail.
async fn fragile(world: &World) -> (Client, Faulty) {
    fragile_with(world, |_| {}).await
}

async fn fragile_with(world: &World, change: impl FnOnce(&mut Settings)) -> (Client, Faulty) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let client = Client::at(&format!("http://{}", listener.local_addr().expect("it is bound")));
    let store = Faulty::new();
    let mut settings = settings(&world.provider);
    change(&mut settings);
    tokio::spawn(serve(listener, settings, Arc::new(store.clone()), future::pending()));
    (client, store)
}
