//! The context of a turn: the exact input of its model.
//!
//! The upstream records the true bodies that it receives, so each context is compared with them,
//! byte for byte.

mod deliveries;
mod dialects;
mod plain;
mod refused;
mod repaired;
mod shortened;

use antiphon_testkit::Recorded;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::{Client, Turn, World};

/// The context of a turn.
async fn context_of(client: &Client, response: &str) -> Value {
    let answer = client.get(&format!("/v1/responses/{response}/context")).await;
    answer.json()
}

/// Fails unless the context of the turn has the items of the latest request, byte for byte. Returns
/// the context.
async fn assert_sent(world: &World, client: &Client, turn: &Turn) -> Value {
    assert_equals_request(client, turn.id(), &world.last_request()).await
}

/// Fails unless the context of the response has the items of this request, byte for byte. Returns
/// the context.
async fn assert_equals_request(client: &Client, response: &str, request: &Recorded) -> Value {
    let answer = client.get(&format!("/v1/responses/{response}/context")).await;
    let context = answer.json();
    let items: Items = serde_json::from_slice(answer.body()).expect("a context has items");
    let items = items.items.into_iter().map(|item| item.item.map(|item| item.get().to_owned()));
    let items: Vec<Option<String>> = items.collect();
    let body: Input = serde_json::from_slice(&request.raw).expect("the request has an input");
    let sent = body.input.into_iter().map(|item| Some(item.get().to_owned()));
    assert_eq!(items, sent.collect::<Vec<_>>(), "{context:#}");
    assert_eq!(context["exact"], true, "{context:#}");
    context
}

/// The items of a context.
#[derive(Deserialize)]
struct Items {
    items: Vec<SentItem>,
}

#[derive(Deserialize)]
struct SentItem {
    item: Option<Box<RawValue>>,
}

/// The body of a request.
#[derive(Deserialize)]
struct Input {
    input: Vec<Box<RawValue>>,
}

/// The sources of the items of a context.
fn sources(context: &Value) -> Vec<&str> {
    let items = context["items"].as_array().expect("a context has items");
    items.iter().map(|item| item["source"].as_str().expect("an item has a source")).collect()
}
