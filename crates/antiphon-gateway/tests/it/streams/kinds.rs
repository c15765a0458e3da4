//! Every kind of answer, as a stream that keeps all laws.

use antiphon_mock::{Answer, Reply, Split};
use serde_json::{Value, json};

use crate::support::{MODEL, Mode, Turn, World, ask, item_event, shown, telling, within_item};

/// The upstream gives this answer to one streamed turn, whose laws are checked as it is read.
async fn receive(answer: &Answer) -> Turn {
    let world = World::new().await;
    world.script(Reply::sse(answer.frames()));
    world.client().turn(Mode::Streamed, &ask("Hello").encrypted()).await
}

fn names(turn: &Turn) -> Vec<&str> {
    turn.events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn events_equal_those_of_the_upstream() {
    let answer = Answer::new(MODEL)
        .reasoning("The user greets. I greet back.")
        .message("Grüße, 世界 👋🏽!")
        .refusal("But no more than that.")
        .call("call_1", "echo", r#"{"text": "hello \" there"}"#)
        .custom_call("call_2", "patch", "*** Begin\n+ line")
        .split(Split::Characters(3));

    let turn = receive(&answer).await;

    let expected = answer.frames();
    let expected: Vec<&str> = expected.iter().filter_map(|frame| frame.name()).collect();
    assert_eq!(names(&turn), expected);
    assert_eq!(turn.output(), shown(&answer.output()));
    assert_eq!(turn.status(), "completed");
}

#[tokio::test]
async fn answer_without_items_completes() {
    let turn = receive(&Answer::new(MODEL)).await;
    assert_eq!(names(&turn), ["response.created", "response.in_progress", "response.completed"]);
}

#[tokio::test]
async fn limited_answer_is_incomplete() {
    let answer = Answer::new(MODEL).message("Once upon a").incomplete();
    let turn = receive(&answer).await;
    assert_eq!(turn.status(), "incomplete");
    let details = &turn.response["incomplete_details"];
    assert_eq!(*details, json!({"reason": "max_output_tokens"}));
    assert_eq!(turn.item("message")["status"], "incomplete");
    assert_eq!(turn.response["completed_at"], Value::Null);
}

#[tokio::test]
async fn unknown_items_and_events_pass() {
    let search = json!({
        "type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "1e2"},
    });
    let receipt = json!({
        "type": "acme:receipt", "id": "acme_1", "status": "completed", "total": 0.5,
    });
    let answer = Answer::new(MODEL)
        .item(search.clone())
        .event("acme:tick", json!({"value": 1}))
        .item(receipt.clone())
        .message("Found.");

    let turn = receive(&answer).await;

    assert_eq!(turn.output()[..2], [search, receipt]);
    let tick = turn.events.iter().find(|event| event.name == "acme:tick");
    assert_eq!(tick.unwrap().json["value"], 1);
}

#[tokio::test]
async fn events_of_hosted_tools_and_annotations_keep_their_item() {
    let search = |status: &str| {
        json!({"type": "web_search_call", "id": "ws_1", "status": status,
            "action": {}})
    };
    let message = |content: Value, status: &str| {
        json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": status,
            "content": content,
        })
    };
    let annotation = json!({
        "type": "url_citation", "url": "https://example.org", "title": "Example",
        "start_index": 0, "end_index": 5,
    });
    let part = |text: &str, annotations: Value| {
        json!({"type": "output_text", "text": text,
            "annotations": annotations, "logprobs": []})
    };
    let reply = part("Found", json!([annotation]));
    let output = [search("completed"), message(json!([reply]), "completed")];
    let in_text = |kind: &str, mut fields: Value| {
        fields["content_index"] = 0.into();
        within_item(kind, 1, "msg_1", fields)
    };
    let events = [
        item_event("added", 0, &search("in_progress")),
        within_item("response.web_search_call.searching", 0, "ws_1", json!({})),
        within_item("response.web_search_call.completed", 0, "ws_1", json!({})),
        item_event("done", 0, &output[0]),
        item_event("added", 1, &message(json!([]), "in_progress")),
        in_text("response.content_part.added", json!({"part": part("", json!([]))})),
        in_text("response.output_text.delta", json!({"delta": "Found", "logprobs": []})),
        in_text(
            "response.output_text.annotation.added",
            json!({"annotation_index": 0, "annotation": annotation}),
        ),
        in_text("response.output_text.done", json!({"text": "Found", "logprobs": []})),
        in_text("response.content_part.done", json!({"part": reply})),
        item_event("done", 1, &output[1]),
    ];
    let frames = telling(events, &output);
    let expected: Vec<String> =
        frames.iter().filter_map(|it| it.name().map(str::to_owned)).collect();
    let world = World::new().await;
    world.script(Reply::sse(frames));

    let turn = world.client().turn(Mode::Streamed, &ask("Search")).await;

    assert_eq!(names(&turn), expected);
    assert_eq!(turn.output(), output);
}

#[tokio::test]
async fn raw_reasoning_has_the_clients_name() {
    for kind in ["response.reasoning_text", "response.reasoning"] {
        let text = json!({"type": "reasoning_text", "text": "Hm."});
        let reasoning = |content: Value| {
            json!({"type": "reasoning", "id": "rs_1", "summary": [],
                "content": content})
        };
        let message = json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [],
        });
        let in_text = |kind: &str, mut fields: Value| {
            fields["content_index"] = 0.into();
            within_item(kind, 0, "rs_1", fields)
        };
        let empty = json!({"type": "reasoning_text", "text": ""});
        let output = [reasoning(json!([text])), message];
        let events = [
            item_event("added", 0, &reasoning(json!([]))),
            in_text("response.content_part.added", json!({"part": empty})),
            in_text(&format!("{kind}.delta"), json!({"delta": "Hm."})),
            in_text(&format!("{kind}.done"), json!({"text": "Hm."})),
            in_text("response.content_part.done", json!({"part": text})),
            item_event("done", 0, &output[0]),
            item_event("added", 1, &output[1]),
            item_event("done", 1, &output[1]),
        ];
        let world = World::new().await;
        world.script(Reply::sse(telling(events, &output)));

        let turn = world.client().turn(Mode::Streamed, &ask("Think")).await;

        assert!(names(&turn).contains(&"response.reasoning_text.delta"));
        assert_eq!(turn.output()[0]["content"], json!([text]));
    }
}
