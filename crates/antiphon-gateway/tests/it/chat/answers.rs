//! The ends of answers, streamed and whole.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::completion::events;
use super::{APIS, OTHER_APIS, complete, post, request, user, world_of};
use crate::support::{MODEL, MODES, Mode};

fn asked() -> Value {
    request(&json!([user("Hello")]))
}

#[tokio::test]
async fn finish_reason_tells_the_end() {
    for (api, name) in OTHER_APIS {
        for (answer, reason) in [
            (Answer::new(MODEL).message("Hi"), "stop"),
            (Answer::new(MODEL).message("Hi").incomplete(), "length"),
            (Answer::new(MODEL).call("call_1", "echo", r#"{"text":"x"}"#), "tool_calls"),
        ] {
            for mode in MODES {
                let world = world_of(api).await;
                world.script(Reply::sse(answer.frames_for(name)));
                let completion = complete(&world.client(), mode, &asked()).await;
                assert_eq!(completion.finish_reason(), reason, "{name:?} {mode:?}");
            }
        }
    }
}

#[tokio::test]
async fn usage_is_counted_as_chat_completions_do() {
    for (api, name) in APIS {
        for mode in MODES {
            let world = world_of(api).await;
            let completion = complete(&world.client(), mode, &asked()).await;
            let usage = &completion.json["usage"];
            for key in ["prompt_tokens", "completion_tokens", "total_tokens"] {
                assert!(usage[key].is_u64(), "{name:?}: {usage}");
            }
        }
    }
}

#[tokio::test]
async fn failure_within_a_stream_ends_with_an_error() {
    for (api, name) in OTHER_APIS {
        let world = world_of(api).await;
        let frames = Answer::new(MODEL).message("Hello there, how are you?").frames_for(name);
        world.script(Reply::sse(frames).break_after(4));
        let events = events(&post(&world.client(), Mode::Streamed, &asked()).await);
        let last: Value = serde_json::from_str(events.last().expect("there are events")).unwrap();
        assert_eq!(last["error"]["type"], "server_error", "{name:?}: {events:?}");
        assert_ne!(last["error"]["message"], "");
    }
}

#[tokio::test]
async fn failed_whole_answer_is_an_error() {
    for (api, name) in OTHER_APIS {
        let world = world_of(api).await;
        let frames = Answer::new(MODEL).message("Hello there, how are you?").frames_for(name);
        world.script(Reply::sse(frames).break_after(4));
        let refused = post(&world.client(), Mode::Whole, &asked()).await.refused();
        assert!(refused.status >= 500, "{name:?}: {refused:?}");
        assert!(refused.body["error"]["message"].is_string());
    }
}

/// A turn in a stored conversation can end with a failed response.
#[tokio::test]
async fn failed_response_is_an_error() {
    for attached in [false, true] {
        let world = world_of(APIS[0].0).await;
        let mut client = world.client();
        if attached {
            let conversation = client.new_conversation().await;
            client = client.with_header("antiphon-conversation", &conversation);
        }
        let failed = || Answer::new(MODEL).message("Hello").failed("server_error", "No.");
        world.script(Reply::sse(failed().frames()));
        let refused = post(&client, Mode::Whole, &asked()).await.refused();
        assert!(refused.status >= 500, "{refused:?}");
        assert_eq!(refused.body["error"]["message"], "No.");

        world.script(Reply::sse(failed().frames()));
        let events = events(&post(&client, Mode::Streamed, &asked()).await);
        let error = json!({"message": "No.", "type": "server_error", "param": null,
            "code": "server_error"});
        let last: Value = serde_json::from_str(events.last().expect("there are events")).unwrap();
        assert_eq!(last, json!({"error": error}));
    }
}
