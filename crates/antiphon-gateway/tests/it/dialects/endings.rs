//! How answers end: in one piece, at a limit, in the middle.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, Dialect, OTHERS, ask_with_reasoning};
use crate::support::{Client, MODEL, MODES, Mode, World, ask, lines, output};

fn answer() -> Answer {
    Answer::new(MODEL).reasoning("Echo it.").message("I call the tool.").call(
        "call_1",
        "echo",
        r#"{"text":"hello"}"#,
    )
}

/// A conversation in which something was said.
async fn receive(client: &Client) -> (String, Vec<Value>) {
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let held = client.items(&conversation).await;
    (conversation, held)
}

/// The turn failed: its conversation is as it was, and goes on.
async fn assert_goes_on(world: &World, conversation: &str, held: &[Value]) {
    let client = world.client();
    assert_eq!(client.items(conversation).await, held);
    let recalled = client.respond(&ask("What is my color?").within(conversation)).await;
    assert_eq!(recalled.text(), "purple");
    assert_eq!(world.last_view().await.len(), held.len() + 1);
}

#[tokio::test]
async fn unstreamed_answer_is_returned_in_the_requested_form() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            let say = |input: Value| ask_with_reasoning(input).within(&conversation);
            dialect.script_whole(&world, &answer());

            let turn = client.turn(mode, &say("Echo hello".into())).await;

            assert_eq!(turn.status(), "completed");
            assert_eq!(
                lines(turn.output()),
                ["reasoning", "assistant: I call the tool.", r#"call echo {"text":"hello"}"#]
            );
            assert!(turn.response["usage"]["output_tokens"].is_u64());
            let answer = json!([output(turn.call_id(), "hello")]);
            assert_eq!(client.turn(mode, &say(answer)).await.text(), "echo said: hello");
        }
    }
}

#[tokio::test]
async fn answer_cut_by_its_limit_is_incomplete() {
    for dialect in OTHERS {
        for mode in MODES {
            let world = dialect.world().await;
            dialect.script_stream(&world, &Answer::new(MODEL).message("Once upon a").incomplete());
            let turn = world.client().turn(mode, &ask("Tell me a story")).await;
            assert_eq!(turn.status(), "incomplete");
            assert_eq!(turn.response["incomplete_details"]["reason"], "max_output_tokens");
            assert_eq!(turn.text(), "Once upon a");
        }
    }
}

/// How many frames there are before those that end the answer: Chat Completions have the reason,
/// the usage and `[DONE]`, Anthropic Messages have `message_delta` and `message_stop`.
fn before_the_end(dialect: Dialect, frames: usize) -> usize {
    if dialect.upstream == CHAT.upstream { frames - 3 } else { frames - 2 }
}

#[tokio::test]
async fn stream_broken_at_any_frame_fails_the_response() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        let client = world.client();
        let asked = json!({"stream_options": {"include_usage": true}});
        let answer = answer().request(&asked);
        let frames = answer.frames_for(dialect.api);
        for count in 0..=before_the_end(dialect, frames.len()) {
            let (conversation, held) = receive(&client).await;
            let reply = Reply::sse(frames.clone());
            let breaks = count % 2 == 0;
            world.script(if breaks { reply.break_after(count) } else { reply.end_after(count) });

            let say = ask_with_reasoning("Echo hello").within(&conversation);
            let turn = client.turn(Mode::Streamed, &say).await;

            assert_eq!(turn.status(), "failed", "{} after {count}", dialect.name);
            assert_eq!(turn.response["error"]["code"], "server_error");
            assert_goes_on(&world, &conversation, &held).await;
        }
    }
}

#[tokio::test]
async fn broken_stream_fails_an_unstreamed_answer() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        let client = world.client();
        let (conversation, held) = receive(&client).await;
        world.script(Reply::sse(answer().frames_for(dialect.api)).break_after(5));
        client.create(Mode::Whole, &ask("Hello").within(&conversation)).await.server_error();
        assert_goes_on(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn error_event_fails_the_response() {
    for (dialect, code) in [(CHAT, "server_error"), (ANTHROPIC, "overloaded_error")] {
        let world = dialect.world().await;
        let client = world.client();
        let (conversation, held) = receive(&client).await;
        let answer = Answer::new(MODEL).message("I was about to").failed(code, "Overloaded");
        dialect.script_stream(&world, &answer);

        let turn = client.turn(Mode::Streamed, &ask("Hello").within(&conversation)).await;

        assert_eq!(turn.status(), "failed");
        assert_eq!(turn.events.last().map(|event| &*event.name), Some("response.failed"));
        assert!(turn.response["error"]["message"].to_string().contains("Overloaded"));
        assert_goes_on(&world, &conversation, &held).await;
    }
}

#[tokio::test]
async fn json_of_another_kind_is_an_error() {
    for dialect in OTHERS {
        let world = dialect.world().await;
        let client = world.client();
        for body in ["[]", "{\"object\":", "\"hello\"", "{}"] {
            world.script(Reply::new(StatusCode::OK, "application/json", body));
            client.create(Mode::Whole, &ask("Hello")).await.server_error();
        }
    }
}
