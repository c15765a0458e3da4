//! The stream.

use antiphon_mock::{Answer, Frame, Split};
use serde_json::json;

use crate::{events, full_answer, names};

/// The required fields of each event besides `type` and `sequence_number`.
fn required_fields(name: &str) -> &'static [&'static str] {
    match name {
        "response.created"
        | "response.in_progress"
        | "response.completed"
        | "response.incomplete"
        | "response.failed" => &["response"],
        "response.output_item.added" | "response.output_item.done" => &["output_index", "item"],
        "response.content_part.added" | "response.content_part.done" => {
            &["item_id", "output_index", "content_index", "part"]
        }
        "response.output_text.delta" => {
            &["item_id", "output_index", "content_index", "delta", "logprobs"]
        }
        "response.output_text.done" => {
            &["item_id", "output_index", "content_index", "text", "logprobs"]
        }
        "response.refusal.delta" => &["item_id", "output_index", "content_index", "delta"],
        "response.refusal.done" => &["item_id", "output_index", "content_index", "refusal"],
        "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done" => {
            &["item_id", "output_index", "summary_index", "part"]
        }
        "response.reasoning_summary_text.delta" => {
            &["item_id", "output_index", "summary_index", "delta"]
        }
        "response.reasoning_summary_text.done" => {
            &["item_id", "output_index", "summary_index", "text"]
        }
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            &["item_id", "output_index", "delta"]
        }
        "response.function_call_arguments.done" => &["item_id", "output_index", "arguments"],
        "response.custom_tool_call_input.done" => &["item_id", "output_index", "input"],
        unknown => panic!("the specification has no event {unknown}"),
    }
}

#[test]
fn every_frame_is_a_named_event_and_done_is_last() {
    let mut frames = full_answer().frames();
    assert_eq!(frames.pop(), Some(Frame::done()));
    for frame in frames {
        let event = frame.json().expect("a frame holds JSON");
        assert_eq!(frame.name(), event["type"].as_str());
        let lines = format!("event: {}\ndata: {event}\n\n", frame.name().unwrap());
        assert_eq!(frame.bytes(), lines.as_bytes());
    }
    assert_eq!(Frame::done().bytes(), "data: [DONE]\n\n".as_bytes());
}

#[test]
fn events_have_required_fields_and_sequence_numbers() {
    for (number, event) in events(&full_answer()).iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
        for field in required_fields(event["type"].as_str().unwrap()) {
            assert!(!event[field].is_null(), "{field} of {event}");
        }
    }
}

#[test]
fn event_order_follows_the_specification() {
    let answer = Answer::new("fake-model").reasoning("One").message("Hello friend");
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names(&answer), expected);
}

#[test]
fn joined_deltas_equal_the_text_for_every_split() {
    for (split, count) in [
        (Split::Words, 3),
        (Split::Characters(4), 4),
        (Split::Characters(0), 15),
        (Split::Whole, 1),
    ] {
        let answer = Answer::new("fake-model").message("Größe my friend").split(split);
        let all = events(&answer);
        let deltas: Vec<&str> = all.iter().filter_map(|event| event["delta"].as_str()).collect();
        assert_eq!(deltas.concat(), "Größe my friend");
        assert_eq!(deltas.len(), count, "{split:?}");
    }
}

#[test]
fn inserted_elements_stay_in_place() {
    let thing = json!({"type": "acme:thing", "id": "thing_1", "status": "completed", "deep": [1]});
    let answer = Answer::new("fake-model")
        .event("acme:started", json!({"note": "x"}))
        .item(thing.clone())
        .raw("data: {not json\n\n")
        .message("Hi");
    let frames = answer.frames();
    let started = frames[2].json().unwrap();
    assert_eq!(started, json!({"type": "acme:started", "note": "x", "sequence_number": 2}));
    assert_eq!(frames[3].json().unwrap()["item"], thing);
    assert_eq!(frames[4].json().unwrap()["item"], thing);
    assert_eq!(frames[5].bytes(), "data: {not json\n\n".as_bytes());
    assert_eq!(frames[6].json().unwrap()["sequence_number"], 5);
    assert_eq!(answer.output()[0], thing);
}
