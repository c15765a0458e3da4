//! Answers that break off.

use antiphon_mock::{Answer, Reply};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Ask, Client, MODEL, Mode, World, ask, output, soon, terminal};

fn answer() -> Answer {
    Answer::new(MODEL)
        .reasoning("Echo it.")
        .call("call_1", "echo", r#"{"text":"hello"}"#)
        .message("I have called the tool.")
}

/// A conversation in which something was said.
async fn start_conversation(client: &Client) -> (String, Vec<Value>) {
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let held = client.items(&conversation).await;
    (conversation, held)
}

/// The turn failed: its conversation is as it was, and goes on.
async fn assert_continues(world: &World, conversation: &str, held: &[Value]) {
    let client = world.client();
    assert_eq!(client.items(conversation).await, held);
    let recalled = client.respond(&ask("What is my color?").within(conversation)).await;
    assert_eq!(recalled.text(), "purple");
    assert_eq!(world.last_view().await.len(), held.len() + 1);
}

async fn assert_fails_streamed(client: &Client, ask: &Ask) -> String {
    let turn = client.turn(Mode::Streamed, ask).await;
    assert_eq!(turn.status(), "failed");
    assert_eq!(turn.response["error"]["code"], "server_error");
    turn.id().to_owned()
}

#[tokio::test]
async fn stream_broken_at_any_event_fails_the_response() {
    let world = World::new().await;
    let client = world.client();
    let answer = answer();
    for count in 0..=terminal(&answer) {
        let (conversation, held) = start_conversation(&client).await;
        let reply = Reply::sse(answer.frames());
        let reply = if count % 2 == 0 { reply.break_after(count) } else { reply.end_after(count) };
        world.script(reply);

        assert_fails_streamed(&client, &ask("Echo hello").within(&conversation)).await;

        assert_continues(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn broken_stream_fails_a_whole_answer() {
    let world = World::new().await;
    let client = world.client();
    let answer = answer();
    for count in (0..=terminal(&answer)).step_by(3) {
        let (conversation, held) = start_conversation(&client).await;
        world.script(Reply::sse(answer.frames()).break_after(count));

        let ask = ask("Echo hello").within(&conversation);
        client.create(Mode::Whole, &ask).await.server_error();

        assert_continues(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn incomplete_event_is_ignored() {
    let world = World::new().await;
    let client = world.client();
    let pieces: Vec<Bytes> = answer().frames().into_iter().map(Bytes::from).collect();
    let wire = Bytes::from(pieces.concat());
    let end = wire.len() - b"\n\ndata: [DONE]\n\n".len();
    for length in (0..end).step_by(997).chain([end - 1]) {
        let (conversation, held) = start_conversation(&client).await;
        let reply = Reply::new(StatusCode::OK, "text/event-stream", wire.slice(..length));
        world.script(if length % 2 == 0 { reply.break_after(1) } else { reply });

        assert_fails_streamed(&client, &ask("Echo hello").within(&conversation)).await;

        assert_continues(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn garbage_in_a_stream_is_a_failure() {
    let world = World::new().await;
    let client = world.client();
    for garbage in ["data: {not json\n\n", "data: []\n\n", "data: \"text\"\n\n"] {
        let (conversation, held) = start_conversation(&client).await;
        let answer = Answer::new(MODEL).message("Hello").raw(garbage).message("there");
        world.script(Reply::sse(answer.frames()));
        assert_fails_streamed(&client, &ask("Hello").within(&conversation)).await;
        assert_continues(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn failed_response_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, held) = start_conversation(&client).await;
    let answer = answer();
    let count = terminal(&answer) - 4;
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(count));
    let ask_echo = ask("Echo hello").within(&conversation);
    let mut events = client.stream(&ask_echo).await;
    let failed = events.response_id().await;
    soon("the upstream waits", exchange.wait_for_sent(count)).await;
    exchange.abort();
    events.until("response.failed").await;
    assert_eq!(client.stored_response(&failed).await["status"], "failed");

    let late = ask(json!([output(&json!("call_1"), "hello")])).after(&failed);
    let echoed = client.respond(&late).await;

    assert_eq!(echoed.status(), "completed");
    let view = world.last_view().await;
    assert_eq!(
        view[..5],
        [
            "user: My color is purple",
            "assistant: Noted.",
            "user: Echo hello",
            "reasoning",
            r#"call echo {"text":"hello"}"#,
        ]
    );
    assert_eq!(view.last().unwrap(), "output: hello");
    assert_continues(&world, &conversation, &held).await;
}

#[tokio::test]
async fn failed_chain_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let received = client.respond(&ask("My color is purple")).await;
    let answer = answer();
    world.script(Reply::sse(answer.frames()).break_after(3));
    let failed =
        assert_fails_streamed(&client, &ask("My dog is Biscuit").after(received.id())).await;

    let question = "What is my color and my dog?";
    let from_failed = client.respond(&ask(question).after(&failed)).await;
    let from_earlier = client.respond(&ask(question).after(received.id())).await;

    assert_eq!(from_failed.text(), "purple, Biscuit");
    assert_eq!(from_earlier.text(), "purple");
}
