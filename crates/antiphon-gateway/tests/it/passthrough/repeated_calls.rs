//! Calls that an upstream announces twice, in answers that pass to a client of the same API.

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::{Faults, KeyHash};
use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{METRICS_KEY, MODEL, World, wait_for_metric};

const REPAIRS: &str = r#"antiphon_stream_repairs_total{fault="duplicate_call"}"#;

/// A client API whose upstream has the same.
#[derive(Clone, Copy)]
enum Api {
    Chat,
    Messages,
}

impl Api {
    const ALL: [Self; 2] = [Self::Chat, Self::Messages];

    fn upstream(self) -> UpstreamApi {
        match self {
            Self::Chat => UpstreamApi::Chat,
            Self::Messages => UpstreamApi::Anthropic,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
        }
    }

    fn request(self) -> Value {
        let schema = json!({"type": "object", "properties": {}});
        let tool = match self {
            Self::Chat => {
                json!({"type": "function", "function": {"name": "f", "parameters": schema}})
            }
            Self::Messages => json!({"name": "f", "input_schema": schema}),
        };
        json!({"model": MODEL, "max_tokens": 100, "tools": [tool],
            "messages": [{"role": "user", "content": "Hello"}]})
    }

    /// A whole answer with so many announcements of one call.
    fn whole(self, times: usize) -> String {
        match self {
            Self::Chat => {
                let call = json!({"id": "c1", "type": "function",
                    "function": {"name": "f", "arguments": "{}"}});
                let message = json!({"role": "assistant", "tool_calls": vec![call; times]});
                json!({"choices": [{"index": 0, "message": message,
                    "finish_reason": "tool_calls"}]})
            }
            Self::Messages => {
                let block = json!({"type": "tool_use", "id": "c1", "name": "f", "input": {}});
                json!({"type": "message", "role": "assistant", "content": vec![block; times]})
            }
        }
        .to_string()
    }

    /// A streamed answer with so many announcements of one call.
    fn stream(self, times: usize) -> String {
        let calls = (0..times).map(|index| match self {
            Self::Chat => {
                let call = json!({"index": index, "id": "c1", "type": "function",
                    "function": {"name": "f", "arguments": "{}"}});
                let choice = json!({"index": 0, "delta": {"tool_calls": [call]}});
                format!("data: {}\n\n", json!({"choices": [choice]}))
            }
            Self::Messages => {
                let block = json!({"type": "tool_use", "id": "c1", "name": "f", "input": {}});
                let start =
                    json!({"type": "content_block_start", "index": index, "content_block": block});
                let stop = json!({"type": "content_block_stop", "index": index});
                format!("data: {start}\n\ndata: {stop}\n\n")
            }
        });
        calls.collect::<String>() + self.end()
    }

    fn end(self) -> &'static str {
        match self {
            Self::Chat => "data: [DONE]\n\n",
            Self::Messages => "data: {\"type\":\"message_stop\"}\n\n",
        }
    }

    /// Both forms of an answer, with their content types.
    fn answers(self, times: usize) -> [(&'static str, String); 2] {
        [("application/json", self.whole(times)), ("text/event-stream", self.stream(times))]
    }
}

#[tokio::test]
async fn repeated_call_is_removed_and_counted() {
    for api in Api::ALL {
        let world = World::with(|settings| {
            settings.upstreams[0].api = api.upstream();
            settings.metrics.key = Some(KeyHash::from_key(METRICS_KEY));
        })
        .await;
        let pairs = api.answers(2).into_iter().zip(api.answers(1));
        for (count, ((kind, twice), (_, once))) in (1..).zip(pairs) {
            world.script(Reply::new(StatusCode::OK, kind, twice));
            let answer = world.client().post(api.path(), &api.request()).await;
            assert_eq!(answer.body(), once.as_bytes());
            let operator = world.caller(METRICS_KEY);
            wait_for_metric(&operator, REPAIRS, count).await;
        }
    }
}

#[tokio::test]
async fn answer_without_repeats_keeps_its_bytes() {
    for api in Api::ALL {
        let world = World::with(|settings| settings.upstreams[0].api = api.upstream()).await;
        for (kind, once) in api.answers(1) {
            world.script(Reply::new(StatusCode::OK, kind, once.clone()));
            let answer = world.client().post(api.path(), &api.request()).await;
            assert_eq!(answer.body(), once.as_bytes());
        }
    }
}

/// The operator may leave faults to the client.
#[tokio::test]
async fn repeated_call_passes_without_repairs() {
    for api in Api::ALL {
        let world = World::with(|settings| {
            settings.upstreams[0].api = api.upstream();
            settings.faults = Faults::Reject;
        })
        .await;
        for (kind, twice) in api.answers(2) {
            world.script(Reply::new(StatusCode::OK, kind, twice.clone()));
            let answer = world.client().post(api.path(), &api.request()).await;
            assert_eq!(answer.body(), twice.as_bytes());
        }
    }
}
