//! Tokens: how many a request is, and what becomes of one that has too many.

mod counting;
mod overflow;
mod window;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::UpstreamSettings;
use serde_json::Value;

use crate::support::{Client, World, ask, assistant, user};

const FACTS: [&str; 3] = ["My color is purple", "My dog is Biscuit", "My city is Bonn"];

/// A gateway whose upstream has other settings than the usual ones.
async fn world_with(change: impl FnOnce(&mut UpstreamSettings)) -> World {
    World::with(|settings| change(&mut settings.upstreams[0])).await
}

/// A gateway in front of an upstream of this API.
async fn world_of(api: UpstreamApi) -> World {
    world_with(|upstream| upstream.api = api).await
}

/// A conversation of three turns, each of them told at some length.
async fn three_turns(client: &Client) -> String {
    let conversation = client.new_conversation().await;
    for fact in FACTS {
        client.respond(&ask(lengthened(fact)).within(&conversation)).await;
    }
    conversation
}

/// The same, put into a conversation without a model.
async fn add_three_turns(client: &Client) -> String {
    let conversation = client.new_conversation().await;
    for fact in FACTS {
        client.add_items(&conversation, &[user(&lengthened(fact)), assistant("Noted.")]).await;
    }
    conversation
}

fn lengthened(fact: &str) -> String {
    format!("{fact}. {}", "It is said at some length. ".repeat(20))
}

/// What users say in a view, by the first words of each.
fn users(view: &[String]) -> Vec<&str> {
    let users = view.iter().filter_map(|line| line.strip_prefix("user: "));
    users.map(|text| text.split('.').next().unwrap_or_default()).collect()
}

/// The error of a refusal of status 400, about the input.
fn too_long(refused: &crate::support::Refused) -> String {
    let error = &refused.body["error"];
    assert_eq!(refused.status, 400, "{error}");
    assert_eq!(error["type"], "invalid_request_error");
    assert_eq!(error["code"], "context_length_exceeded");
    assert_eq!(error["param"], Value::from("input"));
    error["message"].as_str().expect("it says what is wrong").to_owned()
}
