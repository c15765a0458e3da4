//! The ends of answers, streamed and whole.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::message::events;
use super::{APIS, OTHER_APIS, client_of, create, post, request, user, world_of};
use crate::support::{MODEL, MODES, Mode};

fn asked() -> Value {
    request(&json!([user("Hello")]))
}

#[tokio::test]
async fn stop_reason_tells_the_end() {
    for (api, name) in OTHER_APIS {
        for (answer, reason) in [
            (Answer::new(MODEL).message("Hi"), "end_turn"),
            (Answer::new(MODEL).message("Hi").incomplete(), "max_tokens"),
            (Answer::new(MODEL).refusal("No."), "refusal"),
            (Answer::new(MODEL).call("call_1", "echo", r#"{"text":"x"}"#), "tool_use"),
        ] {
            for mode in MODES {
                let world = world_of(api).await;
                world.script(Reply::sse(answer.frames_for(name)));
                let message = create(&client_of(&world), mode, &asked()).await;
                assert_eq!(message.stop_reason(), reason, "{name:?} {mode:?}");
            }
        }
    }
}

#[tokio::test]
async fn usage_is_counted_as_anthropic_does() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let message = create(&client_of(&world), mode, &asked()).await;
            let usage = &message.json["usage"];
            for key in [
                "input_tokens",
                "output_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
            ] {
                assert!(usage[key].is_u64(), "{name:?}: {usage}");
            }
            assert_ne!(usage["output_tokens"], 0);
        }
    }
}

#[tokio::test]
async fn failure_within_a_stream_is_an_error_event() {
    for (api, name) in OTHER_APIS {
        let world = world_of(api).await;
        let frames = Answer::new(MODEL).message("Hello there, how are you?").frames_for(name);
        world.script(Reply::sse(frames).break_after(4));
        let events = events(&post(&client_of(&world), Mode::Streamed, &asked()).await);
        let last = events.last().expect("the stream has events");
        assert_eq!(last["type"], "error", "{name:?}: {events:?}");
        assert_eq!(last["error"]["type"], "api_error");
        assert_ne!(last["error"]["message"], "");
        assert_eq!(events[0]["type"], "message_start");
    }
}

#[tokio::test]
async fn failed_whole_answer_is_an_error() {
    for (api, name) in OTHER_APIS {
        let world = world_of(api).await;
        let frames = Answer::new(MODEL).message("Hello there, how are you?").frames_for(name);
        world.script(Reply::sse(frames).break_after(4));
        let refused = post(&client_of(&world), Mode::Whole, &asked()).await.refused();
        assert!(refused.status >= 500, "{name:?}: {refused:?}");
        assert_eq!(refused.body["type"], "error");
        assert_eq!(refused.body["error"]["type"], "api_error");
    }
}

#[tokio::test]
async fn failed_response_is_an_error() {
    for (code, kind) in [
        ("server_error", "api_error"),
        ("rate_limit_exceeded", "rate_limit_error"),
        ("invalid_prompt", "invalid_request_error"),
    ] {
        let failed = || Answer::new(MODEL).message("Hello").failed(code, "No.");
        let world = world_of(APIS[0].0).await;
        world.script(Reply::sse(failed().frames()));
        let refused = post(&client_of(&world), Mode::Whole, &asked()).await.refused();
        assert_eq!((refused.status, &refused.body["error"]["type"]), (502, &json!("api_error")));
        assert_eq!(refused.body["error"]["message"], "No.");

        world.script(Reply::sse(failed().frames()));
        let events = events(&post(&client_of(&world), Mode::Streamed, &asked()).await);
        let error = &events.last().expect("the stream has events")["error"];
        assert_eq!((&error["type"], &error["message"]), (&json!(kind), &json!("No.")));
    }
}

#[tokio::test]
async fn rejection_passes_with_its_status() {
    for (api, _) in OTHER_APIS {
        for (status, kind) in [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (403, "permission_error"),
            (404, "not_found_error"),
            (413, "request_too_large"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (502, "api_error"),
            (503, "overloaded_error"),
            (529, "overloaded_error"),
        ] {
            for mode in MODES {
                let world = world_of(api).await;
                let error = json!({"error": {"message": "No.", "type": "x", "code": null}});
                let status_code = StatusCode::from_u16(status).expect("it is a status");
                world.script(Reply::json(status_code, &error).header("retry-after", "7"));
                let answer = post(&client_of(&world), mode, &asked()).await;
                assert_eq!(answer.header("retry-after"), Some("7"));
                let refused = answer.refused();
                let id = answer.header("request-id").expect("an answer has an id");
                let expected = json!({"type": "error", "request_id": id,
                    "error": {"type": kind, "message": "No."}});
                assert_eq!((refused.status, refused.body), (status, expected));
            }
        }
    }
}
