//! Histories that became too long.

mod automatic;
mod combined;
mod context_management;
mod deletion;
mod dialects;
mod forwarded;
mod origin;
mod replay;
mod route;
mod sealed;
mod shape;
mod snapshot;
mod trigger;

use antiphon_mock::{Answer, Reply, encrypted_content};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Ask, Client, MODEL, World, list, text};

/// Where histories are compacted.
const PATH: &str = "/v1/responses/compact";

/// What the model writes where a test says what.
const SUMMARY: &str = "The user likes Bonn.";

/// A history beyond the least threshold.
fn long_text() -> String {
    "My color is purple. ".repeat(400)
}

/// How a model is told of a summary.
fn summary_message(summary: &str) -> String {
    format!(
        "user: The conversation so far was compacted. Besides this message only the user's own \
         messages were kept; what else was said and done is summed up here:\n\n{summary}"
    )
}

/// Has the next request answered with a summary.
fn script_summary(world: &World) {
    world.script(Reply::sse(Answer::new(MODEL).message(SUMMARY).frames()));
}

/// Has the next request answered as by an upstream that does not know the path.
fn script_missing_route(world: &World) {
    let error = json!({"error": {"message": "Not Found", "type": "invalid_request_error"}});
    world.script(Reply::json(StatusCode::NOT_FOUND, &error));
}

/// Has the next request refused; the error.
fn script_rejection(world: &World) -> Value {
    let error = json!({"error": {"message": "This is not to be said.",
        "type": "invalid_request_error", "param": "input", "code": "invalid_prompt"}});
    world.script(Reply::json(StatusCode::BAD_REQUEST, &error));
    error
}

/// The compacted history of a request.
async fn compacted(client: &Client, ask: &Ask) -> Value {
    client.post(PATH, ask.body()).await.json()
}

/// What it holds.
fn output_of(compacted: &Value) -> Vec<Value> {
    list(&compacted["output"]).to_vec()
}

/// The compaction at its end.
fn compaction_of(compacted: &Value) -> Value {
    let compaction = output_of(compacted).pop().expect("it holds something");
    assert_eq!(compaction["type"], "compaction");
    assert!(text(&compaction["id"]).starts_with("cmp_"), "{compaction}");
    compaction
}

/// A compaction as an upstream that makes some puts it out.
fn upstream_compaction(id: &str) -> Value {
    json!({"id": id, "type": "compaction", "encrypted_content": encrypted_content(MODEL, id)})
}

/// What an upstream with a route of its own answers there.
fn upstream_compact_answer(compaction: &Value) -> Value {
    let message = json!({"id": "msg_1", "type": "message", "role": "user", "status": "completed",
        "content": [{"type": "input_text", "text": "My color is purple"}]});
    json!({
        "id": "resp_of_the_upstream",
        "object": "response.compaction",
        "created_at": 1_764_967_971,
        "output": [message, compaction],
        "usage": {
            "input_tokens": 139, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 438, "output_tokens_details": {"reasoning_tokens": 64},
            "total_tokens": 577,
        },
    })
}
