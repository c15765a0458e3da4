//! While the gateway stops: what was begun is ended, nothing else is begun.

use std::time::Duration;

use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::{Value, json};

use crate::support::{self, Ask, Events, MODEL, MODES, Mode, Raw, World, ask, frames_until};

/// A turn that is open in the middle of its message.
async fn open_turn(world: &World, ask: &Ask) -> (Exchange, Events) {
    let answer = Answer::new(MODEL).message("Once upon a time");
    let event = "response.output_text.delta";
    let exchange =
        world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, event)));
    let mut events = world.client().stream(ask).await;
    events.until(event).await;
    (exchange, events)
}

fn assert_rejected_while_stopping(answer: &support::Answer) {
    assert_eq!(answer.status(), 503);
    let message = "The gateway is stopping. Nothing was changed. Please retry.";
    assert_eq!(answer.server_error(), message);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("connection"), Some("close"));
}

#[tokio::test]
async fn new_requests_are_rejected_while_stopping() {
    let mut world = World::new().await;
    let client = world.client_of(0);
    let conversation = client.new_conversation().await;
    let (exchange, events) = open_turn(&world, &ask("Tell me a tale")).await;

    let stopping = world.stop();

    let new = ask("Hello").within(&conversation);
    for mode in MODES {
        assert_rejected_while_stopping(&client.create(mode, &new).await);
    }
    let items = format!("/v1/conversations/{conversation}/items");
    assert_rejected_while_stopping(
        &client.post(&items, &json!({"items": [support::user("Hello")]})).await,
    );
    assert_rejected_while_stopping(&client.get(&items).await);
    exchange.release_all();
    assert_eq!(events.ended().await.status(), "completed");
    stopping.ended().await;
    world.start().await;
    assert_eq!(world.client().items(&conversation).await, Vec::<Value>::new());
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn stopping_gateway_is_live_but_not_ready() {
    let mut world = World::new().await;
    let caller = world.client_of(0);
    assert_eq!(caller.get("/readyz").await.status(), 200);
    let (exchange, events) = open_turn(&world, &ask("Tell me a tale")).await;

    let stopping = world.stop();

    let ready = caller.get("/readyz").await;
    assert_eq!((ready.status(), &**ready.body()), (503, &b"the gateway is stopping"[..]));
    assert_eq!(caller.get("/healthz").await.status(), 200);
    exchange.release_all();
    events.all().await;
    stopping.ended().await;
}

const BODY: &str = r#"{"model":"fake-model","input":"My color is purple"}"#;

/// A caller whose body the gateway has begun to read: it was told to send it.
async fn ready_to_send_body(world: &World) -> Raw {
    let mut caller = world.connect().await;
    caller
        .send(&format!(
            "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n\
             authorization: Bearer token-of-alice\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            BODY.len()
        ))
        .await;
    caller.read_until("HTTP/1.1 100 Continue\r\n\r\n").await;
    caller
}

#[tokio::test]
async fn request_with_a_pending_body_is_answered() {
    let mut world = World::new().await;
    let mut caller = ready_to_send_body(&world).await;

    let stopping = world.stop();
    caller.send(BODY).await;

    let heard = caller.read_to_end().await;
    assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
    stopping.ended().await;
    let (_, body) = heard.split_once("\r\n\r\n").unwrap();
    let response: Value = serde_json::from_str(body).unwrap();
    world.start().await;
    let kept = world.client().stored_response(response["id"].as_str().unwrap()).await;
    assert_eq!(kept, response);
}

async fn without_grace_period() -> World {
    World::with(|settings| settings.shutdown_grace = Duration::ZERO).await
}

#[tokio::test]
async fn late_body_is_rejected_after_the_grace_period() {
    let mut world = without_grace_period().await;
    let mut caller = ready_to_send_body(&world).await;
    caller.send(&BODY[..10]).await;

    let stopping = world.stop();

    let heard = caller.read_to_end().await;
    assert!(heard.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{heard}");
    assert!(heard.contains("\r\nretry-after: 1\r\n"), "{heard}");
    stopping.ended().await;
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn late_answer_is_rejected_after_the_grace_period() {
    let mut world = without_grace_period().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(4));
    let asked = tokio::spawn({
        let asking = ask("Tell me a tale").within(&conversation);
        async move { client.create(Mode::Whole, &asking).await }
    });
    support::soon("the answer has begun", exchange.wait_for_sent(4)).await;

    world.stop().ended().await;

    let refused = asked.await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.header("retry-after"), Some("1"));
    world.start().await;
    let kept = world.client().items(&conversation).await;
    assert_eq!(kept, Vec::<Value>::new(), "nobody was told of a turn");
}
