//! Answers that stop in the middle.

use antiphon_testkit::FakeUpstream;
use serde_json::{Value, json};

use crate::peer;

const RESPONSES: &str = "/responses";
const CHAT: &str = "/chat/completions";
const ANTHROPIC: &str = "/messages";

/// A request in each API whose answer is reasoning and a call.
fn asking(path: &str) -> Value {
    let parameters = json!({
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
    });
    let user = json!({"role": "user", "content": "Echo hello"});
    let mut function = json!({"name": "echo", "description": "Says it again."});
    let mut body = json!({"model": "fake-model", "stream": true});
    match path {
        RESPONSES => {
            function["type"] = "function".into();
            function["parameters"] = parameters;
            (body["input"], body["store"]) = (json!([user]), false.into());
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        CHAT => {
            function["parameters"] = parameters;
            function = json!({"type": "function", "function": function});
            body["messages"] = json!([user]);
        }
        _ => {
            function["input_schema"] = parameters;
            (body["messages"], body["max_tokens"]) = (json!([user]), 4096.into());
            body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
        }
    }
    body["tools"] = json!([function]);
    body
}

async fn hold(upstream: &FakeUpstream, query: &str) -> u16 {
    let root = upstream.base_url();
    let root = root.strip_suffix("/v1").expect("the URL ends in /v1");
    peer::post_to(format!("{root}/hold?{query}"), "").await.status()
}

#[tokio::test]
async fn hold_stops_one_answer_of_a_token() {
    let places = [
        ("in_reasoning", ["reasoning_summary_text.delta", "reasoning_content", "thinking_delta"]),
        ("in_arguments", ["function_call_arguments.delta", "arguments", "hello"]),
        ("behind_call", ["output_item.done", "finish_reason\":\"tool_calls", "content_block_stop"]),
    ];
    for (place, last_words) in places {
        for (path, last_word) in [RESPONSES, CHAT, ANTHROPIC].into_iter().zip(last_words) {
            let upstream = FakeUpstream::start().await;
            assert_eq!(hold(&upstream, &format!("token=key-1&at={place}")).await, 204);
            let asking = asking(path).to_string();

            let mut stopped = peer::post(&upstream, path, asking.clone()).await;
            assert_eq!(stopped.status(), 200, "{path} {:?}", stopped.chunk().await);
            let whole = peer::post(&upstream, path, asking).await;

            let (chunks, ended) = whole.chunks().await;
            assert!(ended);
            let mut received = Vec::new();
            while !String::from_utf8_lossy(received.last().map_or(&[][..], |it: &bytes::Bytes| it))
                .contains(last_word)
            {
                received.push(
                    stopped.chunk().await.expect("the stream is intact").expect("it has more"),
                );
            }
            assert!(received.len() < chunks.len(), "{place} of {path}");
            assert_eq!(received[..], chunks[..received.len()]);
        }
    }
}

#[tokio::test]
async fn hold_ignores_other_tokens() {
    let upstream = FakeUpstream::start().await;
    assert_eq!(hold(&upstream, "token=key-2&at=head").await, 204);
    let answer = peer::post(&upstream, RESPONSES, asking(RESPONSES).to_string()).await;
    assert!(answer.chunks().await.1);
}

#[tokio::test]
async fn unknown_hold_place_is_refused() {
    let upstream = FakeUpstream::start().await;
    assert_eq!(hold(&upstream, "token=key-1&at=the_end").await, 400);
    assert_eq!(hold(&upstream, "at=head").await, 400);
}
