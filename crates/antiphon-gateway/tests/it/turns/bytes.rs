//! Items and fields go to the model byte for byte as they came.

use antiphon_mock::{Answer, Frame, Reply};
use serde_json::json;

use crate::support::{Client, MODEL, World, ask, telling, text};

/// A message with numbers, keys and escapes that a rewriting would not survive.
const MESSAGE: &str = concat!(
    r#"{"acme:weight":1e2,"role":"user","acme_big":123456789012345678901234567890,"#,
    r#""content":[{"acme":{"z":1.50,"a":[ 1 , 2 ]},"type":"input_text","#,
    r#""text":"h\u00e9llo \/ 1.0"}],"status":null}"#,
);
/// An item of a type that nobody knows.
const TELEMETRY: &str =
    r#"{"type":"acme:telemetry","z":1E2,"call_id":null,"payload":{"b":-0.0,"a":2}}"#;

fn body(extra: &str, input: &str) -> String {
    format!(r#"{{"model":"fake-model",{extra}"input":[{input}]}}"#)
}

async fn respond(client: &Client, body: String) -> String {
    let answer = client.post_raw("/v1/responses", body).await.json();
    text(&answer["id"]).to_owned()
}

async fn assert_sent(world: &World, index: usize, pieces: &[&str]) {
    let request = world.request(index).await;
    assert_eq!(request.verdict, Ok(()));
    let sent = String::from_utf8_lossy(&request.raw);
    for piece in pieces {
        let times = sent.matches(piece).count();
        assert_eq!(times, 1, "{piece} in {sent}");
    }
}

#[tokio::test]
async fn input_items_keep_their_bytes_in_every_turn() {
    let mut world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let named = format!(r#""conversation":"{conversation}","#);
    let input = format!("{MESSAGE}, {TELEMETRY}");
    let next = r#"{"role":"user","content":"Next"}"#;

    let first = respond(&client, body(&named, &input)).await;
    respond(&client, body(&named, next)).await;
    let behind = format!(r#""previous_response_id":"{first}","#);
    respond(&client, body(&behind, next)).await;
    world.kill_and_start().await;
    respond(&world.client(), body(&behind, next)).await;

    for index in 0..4 {
        assert_sent(&world, index, &[MESSAGE, TELEMETRY]).await;
    }
}

#[tokio::test]
async fn added_items_keep_their_bytes() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let items = format!(r#"{{"items":[{MESSAGE},{TELEMETRY}]}}"#);
    let path = format!("/v1/conversations/{conversation}/items");
    client.post_raw(&path, items.clone()).await.json();
    let created = client.post_raw("/v1/conversations", items).await.json();

    for conversation in [&conversation, created["id"].as_str().unwrap()] {
        client.respond(&ask("Next").within(conversation)).await;
    }

    for index in 0..2 {
        assert_sent(&world, index, &[MESSAGE, TELEMETRY]).await;
    }
}

#[tokio::test]
async fn model_output_keeps_its_bytes() {
    let world = World::new().await;
    let client = world.client();
    let item = concat!(
        r#"{"acme_score":0.10,"id":"msg_odd","type":"message","status":"completed","#,
        r#""role":"assistant","content":[{"type":"output_text","text":"h\u00e9llo","#,
        r#""annotations":[],"logprobs":[],"acme":1e2}]}"#,
    );
    let event = |kind: &str| {
        let kind = format!("response.output_item.{kind}");
        let data =
            format!(r#"{{"type":"{kind}","sequence_number":2,"output_index":0,"item":{item}}}"#);
        Frame::raw(format!("event: {kind}\ndata: {data}\n\n"))
    };
    let mut frames = telling([], &[]);
    frames.splice(2..2, [event("added"), event("done")]);
    world.script(Reply::sse(frames));
    let first = respond(&client, body("", r#"{"role":"user","content":"Hello"}"#)).await;

    let behind = format!(r#""previous_response_id":"{first}","#);
    respond(&client, body(&behind, r#"{"role":"user","content":"Next"}"#)).await;

    assert_sent(&world, 1, &[item]).await;
}

#[tokio::test]
async fn encrypted_content_and_arguments_are_unchanged() {
    let world = World::new().await;
    let client = world.client();
    let answer = Answer::new(MODEL).reasoning("Hm.").call(
        "call_1",
        "echo",
        "{ \"text\" : \"a\\u0062c\",\n \"n\": 1.0 }",
    );
    world.script(Reply::sse(answer.frames()));
    let called = client.respond(&ask("Hello")).await;
    let late = ask(json!([{"type": "function_call_output", "call_id": "call_1", "output": ""}]));
    client.respond(&late.after(called.id())).await;
    let input = world.request(1).await;
    assert_eq!(input.input()[1..3], answer.output());
}

#[tokio::test]
async fn unknown_fields_pass_unchanged() {
    let world = World::new().await;
    let fields = concat!(
        r#""acme_option":{"b":1e2,"a":[ 1,2 ]},"temperature":0.50,"metadata":{"k":"\u00e9"},"#,
        r#""seed":123456789012345678901234567890,"#,
    );
    respond(&world.client(), body(fields, MESSAGE)).await;
    let pieces = [
        r#"{"b":1e2,"a":[ 1,2 ]}"#,
        "0.50",
        r#"{"k":"\u00e9"}"#,
        "123456789012345678901234567890,\"",
        MESSAGE,
    ];
    let request = world.request(0).await;
    let sent = std::str::from_utf8(&request.raw).unwrap();
    for piece in pieces {
        assert!(sent.contains(piece), "{piece} in {sent}");
    }
}
