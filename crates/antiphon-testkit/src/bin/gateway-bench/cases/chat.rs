//! A client of Chat Completions in front of an upstream of the same API.

use std::time::Duration;

use serde_json::json;

use super::Stage;
use crate::client::Client;
use crate::marker::Marker;
use crate::results::Row;
use crate::servers::Environment;
use crate::upstream::Script;

const DELTAS: usize = 60;
const REQUESTS: usize = 4_000;

/// The form of the requests of a load.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    streams: bool,
    /// With tools, the gateway reads the calls of the answer.
    has_tools: bool,
}

const FORMS: [Form; 3] = [
    Form { name: "JSON", streams: false, has_tools: false },
    Form { name: "stream of 60", streams: true, has_tools: false },
    Form { name: "stream of 60, with tools", streams: true, has_tools: true },
];

pub(super) async fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Row>> {
    let environment: Environment = [("ANTIPHON_UPSTREAM_API", "chat".to_owned())].into();
    stage.upstream.follow(&Script::deltas(DELTAS)).await?;
    let stage = stage.with_running(stage.running.start_beside(environment).await?);
    let mut rows = Vec::new();
    for form in FORMS {
        let send = |number| form.send(&stage.client, number);
        rows.push(stage.measure_requests(form.name, send, stage.count(REQUESTS)).await?);
    }
    Ok(rows)
}

impl Form {
    async fn send(self, client: &Client, number: usize) -> anyhow::Result<Duration> {
        let end = if self.streams { "[DONE]" } else { r#""finish_reason":"stop""# };
        client.exchange("/v1/chat/completions", self.request(number), end).await
    }

    fn request(self, number: usize) -> String {
        let mark = Marker::User { conversation: number as u64, turn: 1, after: 0 };
        let text = format!("{mark} Please tell me more about the harbour.");
        let mut request = json!({"model": "bench-model", "stream": self.streams,
            "messages": [{"role": "user", "content": text}]});
        if self.has_tools {
            request["tools"] = json!([{"type": "function",
                "function": {"name": "lookup", "parameters": {"type": "object"}}}]);
        }
        request.to_string()
    }
}
