//! How the upstream's bytes are cut changes nothing.

use antiphon_mock::{Answer, Frame, Reply};
use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use crate::support::{Client, MODEL, Mode, World, ask};

fn answer() -> Answer {
    Answer::new(MODEL).reasoning("Ein Gruß.").message("Grüße, 世界 👋🏽!").call(
        "call_1",
        "echo",
        r#"{"text":"hä"}"#,
    )
}

/// The events of a turn, without what every turn has of its own.
async fn events(client: &Client) -> Vec<Value> {
    let turn = client.turn(Mode::Streamed, &ask("Hello")).await;
    let common = |event: &crate::support::Event| {
        let mut json = event.json.clone();
        if let Some(response) = json.get_mut("response") {
            for own in ["id", "created_at", "completed_at"] {
                response[own] = Value::Null;
            }
        }
        json
    };
    turn.events.iter().map(common).collect()
}

fn wire(frames: &[Frame]) -> Bytes {
    let pieces: Vec<Bytes> = frames.iter().map(|frame| frame.bytes().clone()).collect();
    pieces.concat().into()
}

#[tokio::test]
async fn any_size_of_pieces_gives_the_same_events() {
    let world = World::new().await;
    let client = world.client();
    let frames = answer().frames();
    world.script(Reply::sse(frames.clone()));
    let expected = events(&client).await;
    for size in 1..=64 {
        world.script(Reply::sse(frames.clone()).rechunk(size));
        assert_eq!(events(&client).await, expected, "pieces of {size} bytes");
    }
}

#[tokio::test]
async fn sse_variants_give_the_same_events() {
    let world = World::new().await;
    let client = world.client();
    let frames = answer().frames();
    world.script(Reply::sse(frames.clone()));
    let expected = events(&client).await;
    let text = String::from_utf8(wire(&frames).to_vec()).unwrap();
    let variants = [
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        text.replace("event: ", ": ping\n\nid: 7\nretry: 100\nevent: "),
        text.replace("data: ", "data:"),
        format!("\u{feff}{text}"),
    ];
    for variant in variants {
        for size in [1, 7, variant.len()] {
            let reply = Reply::new(StatusCode::OK, "text/event-stream", variant.clone());
            world.script(reply.rechunk(size));
            assert_eq!(events(&client).await, expected, "{size}: {variant:.60}");
        }
    }
}

#[tokio::test]
async fn events_after_the_end_are_ignored() {
    let world = World::new().await;
    let client = world.client();
    let mut frames = answer().frames();
    world.script(Reply::sse(frames.clone()));
    let expected = events(&client).await;
    let end = frames[frames.len() - 2].clone();
    frames.extend([end, Frame::raw("data: and so on\n\n"), Frame::done()]);
    world.script(Reply::sse(frames));
    assert_eq!(events(&client).await, expected);
}

#[tokio::test]
async fn stream_without_a_done_mark_completes() {
    let world = World::new().await;
    let frames = answer().frames();
    let without_done = frames.len() - 1;
    world.script(Reply::sse(frames).end_after(without_done));
    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(turn.status(), "completed");
}
