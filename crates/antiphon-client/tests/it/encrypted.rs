//! Encrypted reasoning of requests without server state.

use antiphon::Item;
use antiphon_client::{Client, Request};
use antiphon_mock::{Answer, Reply};
use antiphon_testkit::FakeUpstream;
use serde_json::Value;

use crate::support::user;

fn request(model: &str, items: Vec<Item>) -> Request {
    Request::new(model).field("store", false).items(items).encrypted_reasoning()
}

async fn upstream() -> (FakeUpstream, Client) {
    let upstream = FakeUpstream::start().await;
    let client = Client::new(upstream.base_url()).with_key("sk-test");
    (upstream, client)
}

fn kinds(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["type"].as_str().unwrap_or("message")).collect()
}

#[tokio::test]
async fn reasoning_returns_to_its_model_and_to_no_other() {
    let (upstream, client) = upstream().await;
    let reasoned = Answer::new("think-1").reasoning("Hm.").message("Hello.");
    upstream.script(Reply::sse(reasoned.frames()));
    let answered =
        client.respond(request("think-1", vec![user("Hi")])).await.unwrap().finish().await.unwrap();
    assert_eq!(answered.response_id, None);
    let raw: Value = serde_json::from_slice(&answered.response).unwrap();
    let encrypted = &raw["output"][0]["encrypted_content"];
    assert!(encrypted.is_string());

    let history: Vec<Item> =
        [user("Hi")].into_iter().chain(answered.output).chain([user("More")]).collect();
    let again = client.respond(request("think-1", history.clone())).await.unwrap();
    again.finish().await.unwrap();
    let sent = upstream.requests()[1].input().to_vec();
    assert_eq!(kinds(&sent), ["message", "reasoning", "message", "message"]);
    assert_eq!(&sent[1]["encrypted_content"], encrypted);

    let other = client.respond(request("think-2", history)).await.unwrap();
    assert_eq!(other.report().repairs[0].fault, "foreign_reasoning");
    other.finish().await.unwrap();
    let sent = upstream.requests()[2].input().to_vec();
    assert_eq!(kinds(&sent), ["message", "message", "message"]);
    assert!(sent[1]["id"].is_null());
    assert_eq!(upstream.refusals(), []);
}

#[tokio::test]
async fn model_without_encryption_is_asked_once() {
    let (upstream, client) = upstream().await;
    for text in ["One", "Two"] {
        let answer = client.respond(request("plain-1", vec![user(text)])).await.unwrap();
        answer.finish().await.unwrap();
    }
    let includes: Vec<bool> =
        upstream.requests().iter().map(|it| it.body["include"].is_array()).collect();
    assert_eq!(includes, [true, false, false]);
}
