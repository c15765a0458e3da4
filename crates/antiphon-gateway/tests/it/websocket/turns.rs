//! A turn is the same whichever way it comes.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{Event, MODEL, Mode, SIM, World, ask, create, output};

fn receive() -> Answer {
    Answer::new(MODEL).reasoning("Echo it.").message("I call the tool.").call(
        "call_1",
        "echo",
        r#"{"text":"hello"}"#,
    )
}

/// The events without what is of one response alone.
fn comparable(events: &[Event]) -> Vec<Value> {
    let comparable = |event: &Event| {
        let mut json = event.json.clone();
        if let Some(response) = json.get_mut("response") {
            for own in ["id", "created_at", "completed_at"] {
                response[own] = Value::Null;
            }
        }
        json
    };
    events.iter().map(comparable).collect()
}

#[tokio::test]
async fn request_is_answered_with_stream_events() {
    let world = World::new().await;
    let asked = ask("Say hello").encrypted().field("metadata", json!({"a": "b"}));
    let frames = receive().frames();
    world.script(Reply::sse(frames.clone()));
    let streamed = world.client().turn(Mode::Streamed, &asked).await;
    world.script(Reply::sse(frames));

    let turn = world.client().socket().await.turn(&asked).await;

    assert_eq!(comparable(&turn.events), comparable(&streamed.events));
    let [over_http, over_socket] = [0, 1].map(|index| world.upstream.requests()[index].clone());
    assert_eq!(over_socket.body, over_http.body, "the model is asked the same");
}

#[tokio::test]
async fn stored_response_is_continued_from_any_connection() {
    let world = World::new().await;
    let client = world.client();
    let mut socket = client.socket().await;
    let say = |text: &str| ask(text).model(SIM);

    let first = socket.turn(&say("My color is purple")).await;
    let second = socket.turn(&say("What is my color?").after(first.id())).await;
    let elsewhere = client.socket().await.turn(&say("What is my color?").after(second.id())).await;

    assert!(second.text().contains("purple"), "{}", second.text());
    assert!(elsewhere.text().contains("purple"), "{}", elsewhere.text());
    let shown = client.get(&format!("/v1/responses/{}", second.id())).await.json();
    assert_eq!(shown["output"], second.response["output"]);
}

#[tokio::test]
async fn conversation_continues_over_both_transports() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut socket = client.socket().await;
    world.script(Reply::sse(receive().frames()));

    let turn = socket.turn(&ask("Say hello").within(&conversation)).await;
    let result = ask(json!([output(turn.call_id(), "hello")])).within(&conversation);
    client.respond(&result).await;
    socket.turn(&ask("And again").within(&conversation).unstored()).await;

    let view = world.view(2).await;
    assert_eq!(view[0], "user: Say hello");
    assert_eq!(view.last().map(String::as_str), Some("user: And again"));
    let users = view.iter().filter(|line| line.starts_with("user:")).count();
    assert_eq!(users, 2, "{view:?}");
}

#[tokio::test]
async fn redundant_fields_are_accepted() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let mut event = create(&ask("Hello").model(SIM));
    event["stream"] = true.into();
    event["background"] = false.into();
    event["stream_options"] = json!({"include_obfuscation": false});
    event["previous_response_id"] = Value::Null;

    socket.send(&event).await;

    assert_eq!(socket.ended().await.status(), "completed");
}

#[tokio::test]
async fn equal_requests_are_turns_of_their_own() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let asked = ask("Hello").model(SIM);

    let (first, second) = (socket.turn(&asked).await, socket.turn(&asked).await);

    assert_ne!(first.id(), second.id());
}
