//! How a connection ends.

use std::time::Duration;

use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::{MODEL, SIM, Socket, World, ask, create, frames_until};

/// A turn that is open in the middle of its message, and its id.
async fn open_turn(world: &World, socket: &mut Socket, conversation: &str) -> (Exchange, String) {
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(until));
    socket.send(&create(&ask("Tell me a tale").within(conversation))).await;
    let created = socket.until("response.created").await;
    socket.until("response.output_text.delta").await;
    let id = created["response"]["id"].as_str().expect("a response has an id");
    (exchange, id.to_owned())
}

#[tokio::test]
async fn disconnect_settles_the_open_turn() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut socket = client.socket().await;
    let (exchange, id) = open_turn(&world, &mut socket, &conversation).await;

    drop(socket);
    world.wait_for_disconnect(&exchange).await;

    assert_eq!(client.wait_until_settled(&id).await["status"], "cancelled");
    client.respond(&ask("Go on").within(&conversation)).await;
    let expected = ["user: Tell me a tale", "assistant: Once ", "user: Go on"];
    assert_eq!(world.view(1).await, expected);
}

#[tokio::test]
async fn old_connection_gets_an_error_and_closes() {
    let world = World::with(|settings| settings.limits.max_websocket_age = Duration::ZERO).await;
    let mut socket = world.client().socket().await;

    let (status, error) = socket.refused().await;

    assert_eq!(status, 400);
    assert_eq!(error["code"], "websocket_connection_limit_reached");
    assert_eq!(socket.closed().await, CloseCode::Normal);
}

#[tokio::test]
async fn old_connection_closes_after_its_turns() {
    let age = Duration::from_secs(2);
    let world = World::with(|settings| settings.limits.max_websocket_age = age).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut socket = client.socket().await;
    let (exchange, _) = open_turn(&world, &mut socket, &conversation).await;
    let other = create(&ask("Hello").model(SIM).field("stream_id", "other"));

    // Turns are taken until it is old.
    loop {
        socket.send(&other).await;
        if socket.event_or_error().await["type"] == "error" {
            break;
        }
        while socket.event_or_error().await["type"] != "response.completed" {}
    }
    exchange.release_all();

    assert_eq!(socket.until("response.completed").await["response"]["status"], "completed");
    assert_eq!(socket.refused().await.1["code"], "websocket_connection_limit_reached");
    assert_eq!(socket.closed().await, CloseCode::Normal);
}

#[tokio::test]
async fn shutdown_finishes_turns_and_rejects_new_ones() {
    let mut world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut socket = client.socket().await;
    let mut idle = client.socket().await;
    idle.turn(&ask("Hello").model(SIM)).await;
    let (exchange, _) = open_turn(&world, &mut socket, &conversation).await;

    let stopping = world.stop();
    assert_eq!(idle.closed().await, CloseCode::Away, "one without a turn is closed");
    socket.send(&create(&ask("Hello").model(SIM))).await;
    assert_eq!(socket.refused().await.0, 503);
    exchange.release_all();

    let end = socket.until("response.completed").await;
    assert_eq!(end["response"]["status"], "completed");
    assert_eq!(socket.closed().await, CloseCode::Away);
    stopping.ended().await;
}

#[tokio::test]
async fn open_turns_are_settled_after_the_grace_period() {
    let mut world =
        World::with(|settings| settings.shutdown_grace = Duration::from_millis(200)).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut socket = client.socket().await;
    let (_exchange, id) = open_turn(&world, &mut socket, &conversation).await;

    let stopping = world.stop();

    let end = socket.until("response.failed").await;
    assert_eq!(end["response"]["id"], json!(id));
    assert_eq!(socket.closed().await, CloseCode::Away);
    stopping.ended().await;
}

#[tokio::test]
async fn unresponsive_connection_is_closed() {
    let world =
        World::with(|settings| settings.limits.client_timeout = Duration::from_millis(20)).await;
    let mut silent = world.connect().await;
    silent
        .send(concat!(
            "GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a\r\n",
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n",
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        ))
        .await;
    let head = silent.read_until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{head}");
    assert!(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "the key of RFC 6455: {head}");

    silent.discard_to_end().await;
}

#[tokio::test]
async fn connection_that_answers_pings_stays_open() {
    let timeout = Duration::from_millis(20);
    let world = World::with(|settings| settings.limits.client_timeout = timeout).await;
    let mut socket = world.client().socket().await;
    // Reading answers pings: as many as would have been too many to leave unanswered, and more.
    for _ in 0..60 {
        socket.ping().await;
    }
    assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
}
