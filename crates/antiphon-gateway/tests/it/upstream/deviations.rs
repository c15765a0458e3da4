//! Servers that deviate from the API, and answer all the same.

use antiphon_gateway::settings::Settings;
use antiphon_mock::{Answer, Api, Frame, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{MODEL, MODES, Mode, World, ask, text};

fn answer() -> Answer {
    Answer::new(MODEL).message("Hello there")
}

/// The text of a turn's only message, its status, and the faults that its report names.
async fn receive(world: &World, mode: Mode) -> (String, String, Vec<Value>) {
    let turn = world.client().turn(mode, &ask("Hello")).await;
    let text_sent = text(&turn.response["output"][0]["content"][0]["text"]).to_owned();
    let report = world.client().report(turn.id()).await;
    let repairs = report["stream"].as_array().expect("a report lists its stream repairs");
    let faults = repairs.iter().map(|repair| repair["fault"].clone()).collect();
    (text_sent, text(&turn.response["status"]).to_owned(), faults)
}

/// The status and the sentence of a turn that fails.
async fn failed(world: &World, mode: Mode) -> (u16, String) {
    match world.client().attempt(mode, &ask("Hello")).await {
        Ok(turn) => (200, text(&turn.response["error"]["message"]).to_owned()),
        Err(answer) => {
            let refused = answer.refused();
            (refused.status, text(&refused.body["error"]["message"]).to_owned())
        }
    }
}

fn chat(settings: &mut Settings) {
    settings.upstreams[0].api = antiphon::dialect::UpstreamApi::Chat;
}

#[tokio::test]
async fn repeated_events_double_nothing() {
    let world = World::new().await;
    let frames = answer().frames();
    let each_twice: Vec<Frame> =
        frames.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
    let resumed: Vec<Frame> = frames[..5].iter().chain(&frames[2..]).cloned().collect();
    for mode in MODES {
        for frames in [&each_twice, &resumed] {
            world.script(Reply::sse(frames.clone()));
            let expected =
                ("Hello there".into(), "completed".into(), vec!["events_repeated".into()]);
            assert_eq!(receive(&world, mode).await, expected);
        }
    }
}

#[tokio::test]
async fn events_with_equal_sequence_numbers_are_all_read() {
    let world = World::new().await;
    let numbered = |frame: Frame| match frame.json() {
        Some(mut event) => {
            event["sequence_number"] = 0.into();
            Frame::event(&event)
        }
        None => frame,
    };
    let answer = Answer::new(MODEL).message("ha ha ha ha ");
    world.script(Reply::sse(answer.frames().into_iter().map(numbered)));
    let expected = ("ha ha ha ha ".into(), "completed".into(), Vec::new());
    assert_eq!(receive(&world, MODES[1]).await, expected);
}

#[tokio::test]
async fn done_without_a_finish_reason_is_incomplete() {
    let world = World::with(chat).await;
    let frames = answer().frames_for(Api::Chat).into_iter().filter(|frame| {
        frame.json().is_none_or(|chunk| chunk["choices"][0]["finish_reason"].is_null())
    });
    let reply = Reply::sse(frames);
    for mode in MODES {
        world.script(reply.clone());
        let missing = vec!["finish_reason_missing".into()];
        assert_eq!(
            receive(&world, mode).await,
            ("Hello there".into(), "incomplete".into(), missing)
        );
    }
}

#[tokio::test]
async fn invalid_byte_in_a_delta_is_replaced() {
    for api in Api::ALL {
        let world = World::with(|settings| {
            settings.upstreams[0].api = match api {
                Api::Responses => antiphon::dialect::UpstreamApi::Responses,
                Api::Chat => antiphon::dialect::UpstreamApi::Chat,
                Api::Anthropic => antiphon::dialect::UpstreamApi::Anthropic,
            };
        })
        .await;
        for mode in MODES {
            let frames = Answer::new(MODEL).message("Hello@ there").frames_for(api);
            let broken = frames.iter().map(|frame| {
                let bytes =
                    frame.bytes().iter().map(|byte| if *byte == b'@' { 0xff } else { *byte });
                Frame::raw(bytes.collect::<Vec<u8>>())
            });
            world.script(Reply::sse(broken));
            let replaced = ("Hello\u{fffd} there".to_owned(), "completed".to_owned());
            let (text_sent, status, faults) = receive(&world, mode).await;
            assert_eq!(
                ((text_sent, status), faults),
                (replaced, vec!["invalid_utf8".into()]),
                "{api:?}"
            );
        }
    }
}

#[tokio::test]
async fn content_type_is_case_insensitive_and_optional() {
    let world = World::new().await;
    let events: Vec<u8> =
        answer().frames().iter().flat_map(|frame| frame.bytes().to_vec()).collect();
    let whole = answer().json().to_string().into_bytes();
    let cases = [
        (Some("Text/Event-Stream; Charset=UTF-8"), events.clone()),
        (Some("APPLICATION/JSON"), whole.clone()),
        (None, events),
        (None, whole),
    ];
    for mode in MODES {
        for (content_type, body) in cases.clone() {
            let reply = Reply::new(StatusCode::OK, content_type.unwrap_or("text/plain"), body);
            let reply = if content_type.is_none() { reply.without_content_type() } else { reply };
            for size in [1, 1000] {
                world.script(reply.clone().rechunk(size));
                let expected = ("Hello there".into(), "completed".into(), Vec::new());
                assert_eq!(receive(&world, mode).await, expected, "{content_type:?}");
            }
        }
        let page = Reply::new(StatusCode::OK, "text/plain", "<html>").without_content_type();
        world.script(page);
        assert_eq!(failed(&world, mode).await.0, 502);
    }
}

#[tokio::test]
async fn every_form_of_error_has_a_message() {
    let world = World::new().await;
    let required = json!([{"type": "missing", "loc": ["body", "model"], "msg": "Field required"}]);
    let cases = [
        (json!({"error": {"message": {"message": "No."}, "code": "x"}}), "No."),
        (json!({"error": {"message": {"reason": "No."}}}), r#"{"reason":"No."}"#),
        (json!({"detail": "No."}), "No."),
        (json!({"detail": {"message": "No."}}), "No."),
        (json!({"detail": required}), "model: Field required"),
    ];
    for mode in MODES {
        for (body, message) in &cases {
            world.script(Reply::json(StatusCode::UNPROCESSABLE_ENTITY, body));
            assert_eq!(failed(&world, mode).await, (422, (*message).to_owned()));
        }
        // The same with status 200.
        for (body, message) in &cases[..4] {
            world.script(Reply::json(StatusCode::OK, body));
            assert_eq!(failed(&world, mode).await.1, *message);
        }
    }
}
