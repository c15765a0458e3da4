//! Upstreams that compact by a route of their own.

use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::json;

use super::shape::assert_compaction_shape;
use super::{
    PATH, compacted, compaction_of, output_of, script_rejection, script_summary,
    upstream_compact_answer, upstream_compaction,
};
use crate::support::{MODES, SIM, World, ask, lines, text, user};

#[tokio::test]
async fn compact_request_is_forwarded_and_its_answer_sealed() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    let own = upstream_compaction("cmp_1");
    world.script(Reply::json(StatusCode::OK, &upstream_compact_answer(&own)));

    let compacted = compacted(&client, &ask("And now?").after(first.id())).await;

    assert_compaction_shape(&compacted);
    assert_eq!(compacted["usage"]["total_tokens"], 577);
    assert_ne!(compacted["id"], "resp_of_the_upstream");
    assert_eq!(lines(&output_of(&compacted)), ["user: My color is purple", "compaction"]);
    let sealed = compaction_of(&compacted);
    assert_eq!(sealed["id"], own["id"]);
    assert!(!text(&sealed["encrypted_content"]).contains(text(&own["encrypted_content"])));
    let request = world.last_request();
    assert_eq!(request.path, "/v1/responses/compact");
    let given = ["user: My color is purple", "assistant: Noted.", "user: And now?"];
    assert_eq!(lines(request.input()), given);
    for field in ["previous_response_id", "store", "stream"] {
        assert!(request.body.get(field).is_none(), "{field}");
    }
}

#[tokio::test]
async fn upstream_gets_its_compaction_back_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let own = upstream_compaction("cmp_1");
        world.script(Reply::json(StatusCode::OK, &upstream_compact_answer(&own)));
        let mut input = output_of(&compacted(&client, &ask("My color is purple")).await);
        input.push(user("What is my color?"));

        let turn = client.turn(mode, &ask(input).unstored()).await;

        assert_eq!(turn.text(), "purple");
        world.last_view().await;
        assert_eq!(world.last_request().input()[1], own);
    }
}

#[tokio::test]
async fn missing_route_is_requested_once() {
    for status in
        [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED, StatusCode::NOT_IMPLEMENTED]
    {
        let world = World::new().await;
        let client = world.client();
        world.script(Reply::json(status, &json!({"detail": "no"})));
        for _ in 0..2 {
            script_summary(&world);
            compaction_of(&compacted(&client, &ask("Hello")).await);
        }
        let paths: Vec<String> =
            world.upstream.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, [PATH, "/v1/responses", "/v1/responses"], "{status}");
    }
}

#[tokio::test]
async fn error_of_the_route_passes_unchanged() {
    let world = World::new().await;
    let client = world.client();
    let error = script_rejection(&world);
    let refused = client.post(PATH, ask("Hello").body()).await.refused();
    assert_eq!((refused.status, refused.body), (400, error));
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn answer_without_a_compaction_is_a_server_error() {
    let world = World::new().await;
    let client = world.client();
    for output in [json!([]), json!("x"), json!([{"type": "compaction"}])] {
        world.script(Reply::json(StatusCode::OK, &json!({"output": output})));
        let message = client.post(PATH, ask("Hello").body()).await.server_error();
        assert_eq!(message, "The upstream sent an invalid response: no compacted output.");
    }
}

#[tokio::test]
async fn built_in_model_writes_its_own_summary() {
    let world = World::new().await;
    let client = world.client();
    let history = json!([
        user("Use the echo tool to echo hello"),
        {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "hello"},
        user("My color is purple."),
    ]);
    let mut input = output_of(&compacted(&client, &ask(history).model(SIM)).await);
    assert_eq!(input.len(), 3);
    input.push(user("What did echo return, and what is my color?"));

    let turn = client.respond(&ask(input).model(SIM)).await;

    assert!(turn.text().contains("echo returned: hello"), "{}", turn.text());
    assert!(turn.text().contains("purple"), "{}", turn.text());
    assert_eq!(world.times_asked(), 0);
}
