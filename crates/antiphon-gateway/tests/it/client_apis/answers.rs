//! The ends of answers, streamed and whole.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Reply as Scripted};
use serde_json::{Value, json};

use super::{ClientApi, UPSTREAMS, world_of};
use crate::support::{MODEL, MODES, Mode, World};

/// Answers, and their ends in the terms of the client's API.
fn ends(api: ClientApi) -> Vec<(Answer, &'static str)> {
    let said = Answer::new(MODEL).message("Hi");
    let called = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"x"}"#);
    match api {
        ClientApi::Messages => vec![
            (said.clone(), "end_turn"),
            (said.incomplete(), "max_tokens"),
            (Answer::new(MODEL).refusal("No."), "refusal"),
            (called, "tool_use"),
        ],
        ClientApi::Gemini => {
            vec![(said.clone(), "STOP"), (said.incomplete(), "MAX_TOKENS"), (called, "STOP")]
        }
        _ => vec![(said.clone(), "stop"), (said.incomplete(), "length"), (called, "tool_calls")],
    }
}

#[tokio::test]
async fn end_has_its_reason() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in api.other_upstreams() {
            for (answer, reason) in ends(api) {
                for mode in MODES {
                    let world = world_of(upstream).await;
                    world.script(Scripted::sse(answer.frames_for(name)));
                    let reply = api.send(&api.client(&world), mode, &api.hello()).await;
                    assert_eq!(reply.end(), reason, "{api:?} {name:?} {mode:?}");
                }
            }
        }
    }
}

/// The counts that every answer has.
fn counts(api: ClientApi) -> &'static [&'static str] {
    match api {
        ClientApi::Responses => &["input_tokens", "output_tokens", "total_tokens"],
        ClientApi::Chat => &["prompt_tokens", "completion_tokens", "total_tokens"],
        ClientApi::Messages => &[
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
        ],
        ClientApi::Gemini => &["promptTokenCount", "candidatesTokenCount", "totalTokenCount"],
    }
}

#[tokio::test]
async fn usage_is_counted_as_the_api_does() {
    for api in ClientApi::ALL {
        for (upstream, name) in UPSTREAMS {
            for mode in MODES {
                let world = world_of(upstream).await;
                let reply = api.send(&api.client(&world), mode, &api.hello()).await;
                let usage = reply.usage();
                for key in counts(api) {
                    assert!(usage[key].is_u64(), "{api:?} {name:?}: {usage}");
                }
                assert_ne!(usage[counts(api)[1]], 0, "{api:?} {name:?}: {usage}");
            }
        }
    }
}

/// A stream that breaks off in the middle of its text.
fn broken(name: antiphon_mock::Api) -> Scripted {
    let answer = Answer::new(MODEL).message("Hello there, how are you?");
    Scripted::sse(answer.frames_for(name)).break_after(4)
}

/// The field of an error with its name, and the name of an error of the server.
fn server_error(api: ClientApi) -> (&'static str, &'static str) {
    match api {
        ClientApi::Messages => ("type", "api_error"),
        ClientApi::Gemini => ("status", "INTERNAL"),
        ClientApi::Responses | ClientApi::Chat => ("type", "server_error"),
    }
}

#[tokio::test]
async fn failure_within_a_stream_ends_with_an_error() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in api.other_upstreams() {
            let world = world_of(upstream).await;
            world.script(broken(name));
            let answer = api.post(&api.client(&world), Mode::Streamed, &api.hello()).await;
            let events = api.events(&answer);
            let last = events.last().expect("the stream has events");
            let (field, expected) = server_error(api);
            assert_eq!(last["error"][field], expected, "{name:?}: {events:?}");
            assert_ne!(last["error"]["message"], "");
            if api == ClientApi::Messages {
                let (first, last) = (&events[0]["type"], &last["type"]);
                assert_eq!((first, last), (&json!("message_start"), &json!("error")));
            }
        }
    }
}

#[tokio::test]
async fn failed_whole_answer_is_an_error() {
    for api in ClientApi::WITHOUT_STATE {
        for (upstream, name) in api.other_upstreams() {
            let world = world_of(upstream).await;
            world.script(broken(name));
            let answer = api.post(&api.client(&world), Mode::Whole, &api.hello()).await;
            let refused = answer.refused();
            assert!(refused.status >= 500, "{api:?} {name:?}: {refused:?}");
            let (field, expected) = server_error(api);
            assert_eq!(refused.body["error"][field], expected);
            assert!(refused.body["error"]["message"].is_string());
            let is_anthropics = refused.body["type"] == "error";
            assert_eq!(is_anthropics, api == ClientApi::Messages);
        }
    }
}

/// The codes of failed responses, and the types of the errors that end a stream.
fn failures(api: ClientApi) -> &'static [(&'static str, &'static str)] {
    match api {
        ClientApi::Messages => &[
            ("server_error", "api_error"),
            ("rate_limit_exceeded", "rate_limit_error"),
            ("invalid_prompt", "invalid_request_error"),
        ],
        _ => &[("server_error", "server_error")],
    }
}

/// The last event of the stream of a failed response.
fn failure_event(api: ClientApi, code: &str, kind: &str) -> Value {
    match api {
        ClientApi::Messages => {
            json!({"type": "error", "error": {"type": kind, "message": "No."}})
        }
        ClientApi::Gemini => {
            json!({"error": {"code": 500, "message": "No.", "status": "INTERNAL"}})
        }
        _ => json!({"error": {"message": "No.", "type": kind, "param": null, "code": code}}),
    }
}

/// A turn in a stored conversation can end with a failed response.
#[tokio::test]
async fn failed_response_is_an_error() {
    for api in ClientApi::WITHOUT_STATE {
        for attached in [false, true] {
            for &(code, kind) in failures(api) {
                let world = world_of(UpstreamApi::Responses).await;
                let mut client = api.client(&world);
                if attached {
                    let conversation = client.new_conversation().await;
                    client = client.with_header("antiphon-conversation", &conversation);
                }
                let failed = || Answer::new(MODEL).message("Hello").failed(code, "No.");
                world.script(Scripted::sse(failed().frames()));
                let refused = api.post(&client, Mode::Whole, &api.hello()).await.refused();
                assert!(refused.status >= 429, "{api:?} {attached} {code}: {refused:?}");
                if !attached {
                    assert_eq!(refused.status, 502, "{api:?} {code}");
                    let (field, expected) = server_error(api);
                    assert_eq!(refused.body["error"][field], expected);
                }
                assert_eq!(refused.body["error"]["message"], "No.");

                world.script(Scripted::sse(failed().frames()));
                let answer = api.post(&client, Mode::Streamed, &api.hello()).await;
                let events = api.events(&answer);
                let last = events.last().expect("the stream has events");
                assert_eq!(*last, failure_event(api, code, kind));
            }
        }
    }
}

/// Sources: the providers' errors for an unknown model. OpenAI's Chat API, Anthropic and Google
/// answer with a 404.
#[tokio::test]
async fn model_that_no_upstream_serves_is_not_found() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    for api in ClientApi::WITHOUT_STATE {
        for mode in MODES {
            let refused = api.post(&api.client(&world), mode, &api.hello()).await.refused();
            assert_eq!(refused.status, 404, "{api:?}");
            let error = &refused.body["error"];
            let (field, kind) = match api {
                ClientApi::Messages => ("type", "not_found_error"),
                ClientApi::Gemini => ("status", "NOT_FOUND"),
                ClientApi::Chat | ClientApi::Responses => ("code", "model_not_found"),
            };
            assert_eq!(error[field], kind);
            let message = error["message"].as_str().unwrap_or_default();
            assert!(message.contains("no upstream serves it"), "{error}");
        }
    }
}
