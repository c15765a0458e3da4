//! Streams: the order of their events.

use std::collections::HashMap;

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::{APIS, streamed, world_of};
use crate::support::{Event, MODEL, Mode, Turn, World, ask, item_event, telling, within_item};

/// The events that belong to each item, by its place in the output.
fn by_item(turn: &Turn) -> Vec<Vec<&Event>> {
    let mut items: Vec<Vec<&Event>> = Vec::new();
    for event in &turn.events {
        let Some(index) = event.json["output_index"].as_u64() else { continue };
        let index = usize::try_from(index).expect("it is small");
        items.resize_with(items.len().max(index + 1), Vec::new);
        items[index].push(event);
    }
    items
}

/// An item's events: it is announced, its parts live one after the other, it ends.
fn assert_life(events: &[&Event]) {
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"response.output_item.added"));
    assert_eq!(names.last(), Some(&"response.output_item.done"));
    let within = &events[1..events.len() - 1];
    for (part, events) in by_part(within) {
        assert_part_life(&part, &events);
    }
}

/// Which part an event is of.
fn part_of(event: &Event) -> Option<String> {
    ["content_index", "summary_index"].iter().find_map(|key| {
        let index = event.json[*key].as_u64()?;
        Some(format!("{key} {index}"))
    })
}

fn by_part<'e>(events: &[&'e Event]) -> HashMap<String, Vec<&'e Event>> {
    let mut parts: HashMap<String, Vec<&Event>> = HashMap::new();
    for event in events {
        if let Some(part) = part_of(event) {
            parts.entry(part).or_default().push(event);
        }
    }
    parts
}

/// What an event says of what it is about: `delta` of `response.output_text.delta`.
fn step(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// `part.added`, deltas, the text's `done`, `part.done`; and what is told adds up.
fn assert_part_life(part: &str, events: &[&Event]) {
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let [added, deltas @ .., text_done, done] = &names[..] else {
        panic!("{part} has a life: {names:?}")
    };
    assert!(added.ends_with("_part.added"), "{names:?}");
    assert!(done.ends_with("_part.done"), "{names:?}");
    assert_eq!(step(text_done), "done", "{names:?}");
    let received = deltas.iter().all(|name| step(name) == "delta" || name.contains("annotation"));
    assert!(received, "{names:?}");
    let reply: String = events.iter().filter_map(|event| event.json["delta"].as_str()).collect();
    let last = events.last().expect("a part has events");
    let whole = last.json["part"]["text"].as_str().or(last.json["part"]["refusal"].as_str());
    assert_eq!(whole, Some(reply.as_str()));
}

#[tokio::test]
async fn items_follow_the_event_life_cycle() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        let answer = Answer::new(MODEL)
            .reasoning("The user greets. I greet back.")
            .message("Grüße, 世界!")
            .call("call_1", "echo", r#"{"text":"hello"}"#);
        world.script(streamed(api, &answer));

        let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

        let items = by_item(&turn);
        assert_eq!(items.len(), 3, "{dialect}");
        for events in items {
            assert_life(&events);
        }
    }
}

#[tokio::test]
async fn call_arguments_are_streamed_in_deltas() {
    for (dialect, api) in APIS {
        let world = world_of(dialect).await;
        world.script(streamed(api, &Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#)));
        let turn = world.client().turn(Mode::Streamed, &ask("Echo hi")).await;
        let names: Vec<&str> = turn.events.iter().map(|event| event.name.as_str()).collect();
        let of_call: Vec<&str> = names[2..names.len() - 1].to_vec();
        let (deltas, ends): (Vec<&str>, Vec<&str>) =
            of_call.iter().partition(|name| name.ends_with("arguments.delta"));
        assert!(!deltas.is_empty(), "{dialect}: {names:?}");
        assert_eq!(
            ends,
            [
                "response.output_item.added",
                "response.function_call_arguments.done",
                "response.output_item.done",
            ],
            "{dialect}"
        );
    }
}

/// A server that streams text and says nothing of parts.
#[tokio::test]
async fn text_without_a_part_gets_one() {
    let message = |content: Value, status: &str| {
        json!({"type": "message", "id": "msg_1", "role": "assistant", "status": status,
            "content": content})
    };
    let reply =
        message(json!([{"type": "output_text", "text": "Hello", "annotations": []}]), "completed");
    let reasoning = |content: Value| {
        json!({"type": "reasoning", "id": "rs_1", "summary": [],
            "content": content})
    };
    let thought = reasoning(json!([{"type": "reasoning_text", "text": "Hm."}]));
    let delta = |kind: &str, index: usize, id: &str, text: &str| {
        within_item(kind, index, id, json!({"content_index": 0, "delta": text}))
    };
    let output = [thought.clone(), reply.clone()];
    let events = [
        item_event("added", 0, &reasoning(json!([]))),
        delta("response.reasoning_text.delta", 0, "rs_1", "Hm."),
        item_event("done", 0, &thought),
        item_event("added", 1, &message(json!([]), "in_progress")),
        delta("response.output_text.delta", 1, "msg_1", "Hel"),
        delta("response.output_text.delta", 1, "msg_1", "lo"),
        item_event("done", 1, &reply),
    ];
    let world = world_of(APIS[0].0).await;
    world.script(Reply::sse(telling(events, &output)));

    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

    let items = by_item(&turn);
    assert_eq!(items.len(), 2);
    for events in items {
        assert_life(&events);
    }
    assert!(turn.events.iter().any(|event| event.name == "response.reasoning.delta"));
}

#[tokio::test]
async fn response_starts_and_ends_once() {
    for (dialect, api) in APIS {
        for answer in [
            Answer::new(MODEL).message("Hello"),
            Answer::new(MODEL).message("Hello").incomplete(),
            Answer::new(MODEL).message("Hello").failed("server_error", "It broke."),
        ] {
            let world = world_of(dialect).await;
            world.script(streamed(api, &answer));
            let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
            let of_state = |event: &&Event| !event.json["response"].is_null();
            let states: Vec<&str> =
                turn.events.iter().filter(of_state).map(|event| event.name.as_str()).collect();
            let end = format!("response.{}", turn.status());
            assert_eq!(states, ["response.created", "response.in_progress", &*end], "{dialect}");
        }
    }
}

#[tokio::test]
async fn raw_reasoning_has_the_configured_name() {
    for (names, delta) in [
        (antiphon::stream::Form::OpenAi, "response.reasoning_text.delta"),
        (antiphon::stream::Form::OpenResponses, "response.reasoning.delta"),
    ] {
        let world = World::with(|settings| {
            settings.event_names = names;
            settings.upstreams[0].api = antiphon::dialect::UpstreamApi::Chat;
            settings.upstreams[0].reasoning = antiphon::stream::ReasoningForm::Content;
        })
        .await;
        let (_, api) = APIS[1];
        world.script(streamed(api, &Answer::new(MODEL).reasoning("Hm.").message("Hello")));
        let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
        assert!(turn.events.iter().any(|event| event.name == delta), "{delta}");
    }
}
