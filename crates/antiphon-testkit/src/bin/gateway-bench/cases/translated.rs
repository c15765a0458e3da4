//! Clients and upstreams of different APIs: the gateway translates each request and each answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use crate::client::Client;
use crate::dialogue::Dialogue;
use crate::load::Work;
use crate::marker::Marker;
use crate::results::Row;
use crate::servers::Environment;
use crate::upstream::Script;

const DELTAS: usize = 60;
const REQUESTS: usize = 2_000;

/// The API of a client in front of an upstream of the Responses API.
#[derive(Clone, Copy)]
enum Api {
    Chat,
    Messages,
    Gemini,
}

/// A client, and whether it streams.
#[derive(Clone, Copy)]
struct Form {
    api: Api,
    streams: bool,
}

pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    stage.upstream.follow(&Script::deltas(DELTAS)).await?;
    for api in [Api::Chat, Api::Messages, Api::Gemini] {
        for streams in [false, true] {
            let form = Form { api, streams };
            let send = |number| form.send(&stage.client, number);
            rows.push(stage.measure_requests(&form.name(), send, stage.count(REQUESTS)).await?);
        }
    }
    for upstream in ["chat", "anthropic"] {
        let environment: Environment = [("ANTIPHON_UPSTREAM_API", upstream.to_owned())].into();
        let stage = stage.with_running(stage.running.start_beside(environment).await?);
        for (answer, dialogue) in
            [("JSON", Dialogue::chain(0)), ("stream", Dialogue::chain(0).streaming())]
        {
            let work = Work::first_turns(stage.client.clone(), dialogue);
            stage.prepare(&Script::deltas(DELTAS), &work).await?;
            let part = format!("{upstream} upstream, {answer}");
            rows.push(stage.measure(&part, &work, stage.count(REQUESTS)).await?);
        }
    }
    Ok(rows)
}

impl Form {
    fn name(self) -> String {
        let client = match self.api {
            Api::Chat => "chat",
            Api::Messages => "anthropic",
            Api::Gemini => "gemini",
        };
        format!("{client} client, {}", if self.streams { "stream" } else { "JSON" })
    }

    async fn send(self, client: &Client, number: usize) -> anyhow::Result<Duration> {
        let mark = Marker::User { conversation: number as u64, turn: 1, after: 0 };
        let text = format!("{mark} Please tell me more about the harbour.");
        client.exchange(self.path(), self.request(&text).to_string(), self.end()).await
    }

    fn path(self) -> &'static str {
        match (self.api, self.streams) {
            (Api::Chat, _) => "/v1/chat/completions",
            (Api::Messages, _) => "/v1/messages",
            (Api::Gemini, false) => "/v1beta/models/bench-model:generateContent",
            (Api::Gemini, true) => "/v1beta/models/bench-model:streamGenerateContent?alt=sse",
        }
    }

    fn request(self, text: &str) -> Value {
        let messages = json!([{"role": "user", "content": text}]);
        match self.api {
            Api::Chat => {
                json!({"model": "bench-model", "stream": self.streams, "messages": messages})
            }
            Api::Messages => json!({"model": "bench-model", "max_tokens": 1_000,
                "stream": self.streams, "messages": messages}),
            Api::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
        }
    }

    /// The part of an answer that only its end has.
    fn end(self) -> &'static str {
        match (self.api, self.streams) {
            (Api::Chat, false) => r#""finish_reason":"stop""#,
            (Api::Chat, true) => "[DONE]",
            (Api::Messages, false) => r#""stop_reason":"end_turn""#,
            (Api::Messages, true) => "message_stop",
            (Api::Gemini, _) => r#""finishReason":"STOP""#,
        }
    }
}
