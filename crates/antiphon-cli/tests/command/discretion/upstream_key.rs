//! The operator's upstream key, repeated by the upstream in every place that it can write to.

use std::fs;
use std::path::Path;

use antiphon_mock::{Answer, Api, Frame, Reply, Split};
use antiphon_testkit::FakeUpstream;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{Serving, World};

/// No character of it is written as an escape by a JSON encoder.
const KEY: &str = "sk-up-SECRET-0123456789";

/// In every spelling of the key.
const MARK: &str = "SECRET";

const MODEL: &str = "fake-model";

/// A gateway that shows its upstream [`KEY`].
struct Gateway {
    given: Given,
    serving: Serving,
    upstream: FakeUpstream,
    /// The upstream's work is done here.
    _runtime: Runtime,
}

/// How the gateway gets the key.
#[derive(Clone, Copy, Debug)]
enum Given {
    Variable,
    KeyEnv,
}

impl Given {
    /// How often a gateway with this key asks its upstream for one answer, at most.
    fn attempts(self) -> usize {
        match self {
            Self::Variable => 3,
            Self::KeyEnv => 1,
        }
    }
}

impl Gateway {
    fn start(api: Api, given: Given) -> Self {
        let runtime = Runtime::new().unwrap();
        let upstream = runtime.block_on(FakeUpstream::start());
        let (url, name) = (upstream.base_url(), upstream_id(api));
        let file = match given {
            Given::Variable => format!("upstream = '{url}'\nupstream-api = '{name}'\n"),
            Given::KeyEnv => format!(
                "[[upstreams]]\nmodels = ['*']\nurl = '{url}'\napi = '{name}'\n\
                 max-retries = 0\nkey-env = 'KEY_OF_THE_MODEL'\n"
            ),
        };
        let variable = match given {
            Given::Variable => "ANTIPHON_UPSTREAM_KEY",
            Given::KeyEnv => "KEY_OF_THE_MODEL",
        };
        let world = World::serve(&["--listen=127.0.0.1:0", "--store=sqlite:antiphon.db"]);
        let world = world.file("antiphon.toml", &file).variable(variable, KEY);
        let serving = world.variable("ANTIPHON_LOG", "trace").ready();
        Self { given, serving, upstream, _runtime: runtime }
    }

    /// Takes a turn for which the upstream replies this, and reads all that is left of it.
    fn take_turn(&self, reply: &Reply, streamed: bool) {
        for _ in 0..self.given.attempts() {
            self.upstream.script(reply.clone());
        }
        let (_, conversation) = self.serving.answer("POST", "/v1/conversations", &json!({}));
        let conversation = conversation["id"].as_str().unwrap();
        let ask = json!({
            "model": MODEL, "input": "Hello", "stream": streamed, "conversation": conversation,
            "include": ["reasoning.encrypted_content"],
        });
        let answer = self.serving.ask("POST", "/v1/responses", &ask.to_string());
        assert_hidden(&answer);
        self.read(&format!("/v1/conversations/{conversation}/items"));
        if let Some(at) = answer.find("\"resp_") {
            let id = answer[at + 1..].split('"').next().unwrap();
            for rest in ["", "/input_items", "/report"] {
                self.read(&format!("/v1/responses/{id}{rest}"));
            }
        }
        while self.upstream.has_scripted() {
            let ask = json!({"model": MODEL, "input": "Hello", "stream": streamed});
            assert_hidden(&self.serving.ask("POST", "/v1/responses", &ask.to_string()));
        }
    }

    fn read(&self, path: &str) {
        assert_hidden(&self.serving.ask("GET", path, ""));
    }

    /// Ends the gateway. Neither its log nor a file of its store holds the key.
    fn end(self) {
        for file in fs::read_dir(self.serving.directory()).unwrap() {
            assert_not_in_file(&file.unwrap().path());
        }
        self.serving.signal("TERM");
        let (_, _, log) = self.serving.ended();
        assert!(log.contains("turn"), "the log tells of turns: {log}");
        assert_hidden(&log);
    }
}

fn upstream_id(api: Api) -> &'static str {
    match api {
        Api::Responses => "responses",
        Api::Chat => "chat",
        Api::Anthropic => "anthropic",
    }
}

#[track_caller]
fn assert_hidden(text: &str) {
    assert!(!text.contains(MARK), "{text}");
}

fn assert_not_in_file(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let found = bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes());
    assert!(!found, "the key is in {}", path.display());
}

/// What servers of this API write where a request failed.
fn error_body(api: Api) -> Value {
    let message = format!("Incorrect API key provided: {KEY}.");
    match api {
        Api::Anthropic => json!({"type": "error", "error": {
            "type": "authentication_error", "message": message,
        }}),
        _ => json!({"error": {
            "message": message, "type": "invalid_request_error", "param": KEY, "code": KEY,
        }}),
    }
}

/// The same in a stream, in each form that the API has.
fn error_events(api: Api) -> Vec<Frame> {
    let error = error_body(api);
    match api {
        Api::Chat => vec![Frame::data(&error)],
        Api::Anthropic => vec![Frame::event(&error)],
        Api::Responses => {
            let mut event = error["error"].clone();
            event["type"] = "error".into();
            let failed = json!({"type": "response.failed", "response": {
                "id": "resp_1", "object": "response", "status": "failed", "output": [],
                "error": {"code": "server_error", "message": KEY}, "metadata": {"key": KEY},
            }});
            let incomplete = json!({"type": "response.incomplete", "response": {
                "id": "resp_1", "object": "response", "status": "incomplete", "output": [],
                "incomplete_details": {"reason": KEY},
            }});
            vec![Frame::event(&event), Frame::event(&failed), Frame::event(&incomplete)]
        }
    }
}

fn replies(api: Api) -> Vec<Reply> {
    let error = error_body(api);
    let mut replies = vec![
        Reply::json(StatusCode::UNAUTHORIZED, &error).header("x-request-id", KEY),
        Reply::json(StatusCode::INTERNAL_SERVER_ERROR, &error),
        Reply::json(StatusCode::BAD_REQUEST, &json!({"detail": KEY})),
        Reply::json(StatusCode::OK, &error),
        Reply::new(StatusCode::OK, "text/html", KEY),
        Reply::new(StatusCode::OK, "application/json", format!("[\"{KEY}\"]")),
        Reply::new(StatusCode::OK, "text/event-stream", format!("data: {KEY}\n\n")),
    ];
    let said = Answer::new(MODEL).reasoning(KEY).message(format!("The key is {KEY}."));
    let said = said.call("call_1", KEY, json!({"key": KEY}).to_string());
    for split in [Split::Words, Split::Whole, Split::Characters(5)] {
        replies.push(Reply::sse(said.clone().split(split).frames_for(api)));
    }
    replies.push(Reply::json(StatusCode::OK, &said.json_for(api)));
    let begun = Answer::new(MODEL).message("Hello there").frames_for(api);
    for event in error_events(api) {
        replies.push(Reply::sse([event.clone()]));
        let first: Vec<Frame> = begun[..begun.len() * 2 / 3].to_vec();
        replies.push(Reply::sse(first.into_iter().chain([event])));
    }
    replies
}

#[test]
fn upstream_key_is_removed_from_answers() {
    for api in Api::ALL {
        let gateway = Gateway::start(api, Given::KeyEnv);
        for reply in replies(api) {
            for reply in [reply.clone(), escaped(reply)] {
                for streamed in [false, true] {
                    gateway.take_turn(&reply, streamed);
                }
            }
        }
        gateway.end();
    }
}

#[test]
fn upstream_key_is_hidden_during_retries() {
    for api in Api::ALL {
        let gateway = Gateway::start(api, Given::Variable);
        let mut replies = replies(api);
        let last = replies.pop().unwrap();
        for reply in [replies[0].clone(), escaped(replies[1].clone()), last] {
            gateway.take_turn(&reply, true);
        }
        gateway.end();
    }
}

fn escaped(reply: Reply) -> Reply {
    reply.replace(KEY, r"sk\u002dup\u002DSECRET-0123456789")
}
