//! What the specification leaves to implementors: items, events, tools, fields and statuses of
//! their own pass as they came.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{Event, MODEL, MODES, Mode, World, ask, item_event, telling};

fn receipt(status: &str) -> Value {
    json!({
        "type": "acme:search_result", "id": "acme_1", "status": status,
        "query": ["warming"], "score": 1.50, "results": [{"chunk": "Heat"}],
    })
}

#[tokio::test]
async fn extension_item_passes_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let item = receipt("completed");
        let answer = Answer::new(MODEL).item(item.clone()).message("Found.");
        world.script(Reply::sse(answer.frames()));

        let turn = client.turn(mode, &ask("Search").within(&conversation)).await;

        assert_eq!(turn.output()[0], item);
        assert_eq!(client.items(&conversation).await[1], item);
        client.turn(mode, &ask("And now?").within(&conversation)).await;
        let sent = world.request(1).await;
        assert_eq!(sent.items()[1], item);
        assert!(sent.body.to_string().contains(r#""score":1.5"#));
    }
}

/// Statuses of an implementor's own are allowed.
#[tokio::test]
async fn status_of_an_extension_item_is_unchanged() {
    let world = World::new().await;
    let events =
        [item_event("added", 0, &receipt("searching")), item_event("done", 0, &receipt("failed"))];
    world.script(Reply::sse(telling(events, &[receipt("failed")])));
    let turn = world.client().turn(Mode::Streamed, &ask("Search")).await;
    assert_eq!(turn.events[2].json["item"]["status"], "searching");
    assert_eq!(turn.output(), [receipt("failed")]);
    assert_eq!(turn.status(), "completed");
}

#[tokio::test]
async fn extension_event_passes_with_the_next_number() {
    let world = World::new().await;
    let trace = json!({"phase": "tool_resolution", "latency_ms": 34, "related_item_id": "tc_789"});
    let answer = Answer::new(MODEL).event("acme:trace_event", trace.clone()).message("Hello");
    world.script(Reply::sse(answer.frames()));

    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;

    let is_trace = |event: &&Event| event.name == "acme:trace_event";
    let received = turn.events.iter().find(is_trace).unwrap();
    for (key, value) in trace.as_object().unwrap() {
        assert_eq!(received.json[key], *value);
    }
    let numbers = turn.events.iter().map(|event| event.json["sequence_number"].as_u64().unwrap());
    assert!(numbers.eq(0..turn.events.len() as u64));
}

/// Who leaves events out that it does not know has the response all the same.
#[tokio::test]
async fn response_is_equal_without_extension_events() {
    let world = World::new().await;
    let spoken = |answer: Answer| answer.message("Hello there").seed("one");
    let traced = spoken(Answer::new(MODEL).event("acme:trace_event", json!({"value": 1})));
    let mut received = Vec::new();
    for answer in [spoken(Answer::new(MODEL)), traced] {
        world.script(Reply::sse(answer.frames()));
        let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
        let known = turn.events.iter().filter(|event| !event.name.contains(':'));
        received.push(known.map(|event| event.name.clone()).collect::<Vec<_>>());
        assert_eq!(turn.text(), "Hello there");
    }
    assert_eq!(received[0], received[1]);
}

#[tokio::test]
async fn extension_fields_pass_both_ways() {
    let world = World::new().await;
    let field = json!({"cache_hint": [1e2, null], "level": 2});
    world.client().respond(&ask("Hello").field("acme:options", field.clone())).await;
    assert_eq!(world.request(0).await.body["acme:options"], field);

    let mut answer = Answer::new(MODEL).message("Hello").json();
    answer["acme:cost"] = json!({"usd": 0.25});
    world.script(Reply::json(http::StatusCode::OK, &answer));
    let turn = world.client().respond(&ask("Hello")).await;
    assert_eq!(turn.response["acme:cost"], json!({"usd": 0.25}));
}
