//! A caller that reads the events, as they come or again.

use super::{in_background, script_silence, start_tale};
use crate::support::{Event, Mode, World, ask, invalid};

#[tokio::test]
async fn stream_starts_with_the_queued_event() {
    let world = World::new().await;
    let client = world.client();

    let turn = client.turn(Mode::Streamed, &in_background("Hello")).await;

    let names: Vec<&str> = turn.events.iter().map(|event| &*event.name).collect();
    assert_eq!(names[..3], ["response.created", "response.queued", "response.in_progress"]);
    let statuses = turn.events[..3].iter().map(|event| &event.json["response"]["status"]);
    assert!(statuses.eq(["queued", "queued", "in_progress"]));
    assert_eq!(client.stored_response(turn.id()).await, turn.response);
}

#[tokio::test]
async fn stream_resumes_after_any_event() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.turn(Mode::Streamed, &in_background("Echo hello")).await;

    for after in 0..turn.events.len() {
        let rest = client.stream_again(turn.id(), Some(after)).await.all().await;
        assert_eq!(rest, turn.events[after + 1..], "behind {after}");
    }
    assert_eq!(client.stream_again(turn.id(), None).await.all().await, turn.events);
    let beyond = client.stream_again(turn.id(), Some(turn.events.len() + 5)).await.all().await;
    assert_eq!(beyond, Vec::<Event>::new());
}

#[tokio::test]
async fn late_readers_get_past_and_future_events() {
    let world = World::new().await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;
    let received = events.seen().len();

    let mut readers = Vec::new();
    for after in 0..received {
        readers.push((after, client.stream_again(&id, Some(after)).await));
    }
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!(turn.text(), "Once upon a time");
    for (after, reader) in readers {
        assert_eq!(reader.all().await, turn.events[after + 1..], "behind {after}");
    }
}

#[tokio::test]
async fn polled_response_can_be_streamed() {
    let world = World::new().await;
    let client = world.client();
    let exchange = script_silence(&world);
    let id = super::create_queued(&client, &in_background("A tale")).await;

    let events = client.stream_again(&id, None).await;
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!((turn.id(), turn.text()), (&*id, "Once upon a time"));
}

#[tokio::test]
async fn foreground_response_cannot_be_streamed_again() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.respond(&ask("Hello")).await;

    let refused = client.get(&format!("/v1/responses/{}?stream=true", turn.id())).await.refused();

    let message = "Only background responses can be streamed again.";
    assert_eq!(refused, invalid(Some("stream"), Some("unsupported_parameter"), message));
}

#[tokio::test]
async fn stream_parameter_accepts_spellings_of_clients() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.turn(Mode::Streamed, &in_background("Hello")).await;
    let path = format!("/v1/responses/{}", turn.id());

    for (written, kind) in [
        ("true", "text/event-stream"),
        ("True", "text/event-stream"),
        ("1", "text/event-stream"),
        ("false", "application/json"),
        ("False", "application/json"),
        ("0", "application/json"),
    ] {
        let answer = client.get(&format!("{path}?stream={written}")).await;
        assert_eq!(answer.status(), 200, "{written}");
        assert_eq!(answer.header("content-type"), Some(kind), "{written}");
    }
    let message = "Invalid type for 'stream': expected a boolean, but got a string instead.";
    let expected = invalid(Some("stream"), Some("invalid_type"), message);
    for written in ["yes", "", "2", "null"] {
        let refused = client.get(&format!("{path}?stream={written}")).await.refused();
        assert_eq!(refused, expected, "{written}");
    }
}
