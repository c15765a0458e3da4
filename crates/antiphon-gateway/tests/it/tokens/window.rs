//! A window whose size the operator has said.

use antiphon::dialect::UpstreamApi;
use serde_json::json;

use super::{add_three_turns, too_long, users, world_with};
use crate::support::{MODES, Mode, World, ask, assistant, user};

/// Three turns of some 150 tokens each do not fit, two do.
const WINDOW: u32 = 420;

const APIS: [UpstreamApi; 3] = [UpstreamApi::Responses, UpstreamApi::Chat, UpstreamApi::Anthropic];

/// A gateway that knows the window, and a conversation that is too long for it.
async fn too_long_conversation(api: UpstreamApi) -> (World, String) {
    let world = world_with(|upstream| {
        upstream.api = api;
        upstream.context_window = Some(WINDOW);
    })
    .await;
    let conversation = add_three_turns(&world.client()).await;
    (world, conversation)
}

#[tokio::test]
async fn too_long_input_is_rejected_with_remedies() {
    for mode in MODES {
        let (world, conversation) = too_long_conversation(UpstreamApi::Responses).await;
        let client = world.client();
        let asked = world.times_asked();
        let held = client.items(&conversation).await;

        let last = ask("What is my color and dog name?").within(&conversation);
        let message = too_long(&client.refused(mode, &last).await);

        assert!(message.contains("there is room for 420."), "{message}");
        assert!(message.contains("'truncation' to 'auto'"), "{message}");
        assert!(message.contains("/v1/responses/compact"), "{message}");
        assert_eq!(world.times_asked(), asked);
        assert_eq!(client.items(&conversation).await, held);
    }
}

#[tokio::test]
async fn truncation_drops_and_reports_the_oldest_turns() {
    for api in APIS {
        for mode in MODES {
            let (world, conversation) = too_long_conversation(api).await;
            let client = world.client();
            let held = client.items(&conversation).await;

            let last = ask("What is my color and dog name?").within(&conversation);
            let turn = client.turn(mode, &last.field("truncation", "auto")).await;

            assert_eq!(turn.status(), "completed");
            let view = world.last_view().await;
            let reply = ["My dog is Biscuit", "My city is Bonn", "What is my color and dog name?"];
            assert_eq!(users(&view), reply, "{api:?}");
            assert_eq!(turn.response["truncation"], "auto");
            let report = client.report(turn.id()).await;
            let named = report["truncated"].as_array().unwrap();
            assert_eq!(named[0]["item_id"], held[0]["id"]);
            assert_eq!(named[0]["type"], "message");
            assert!(named.iter().all(|item| item["position"].is_null()), "{named:?}");
            let received = turn.header("antiphon-truncated").map(str::to_owned);
            assert_eq!(received, Some(named.len().to_string()));
            let now = client.items(&conversation).await;
            assert_eq!(now[..held.len()], held, "nothing that is stored has changed");
        }
    }
}

#[tokio::test]
async fn output_limit_is_reserved_in_the_window() {
    let (world, conversation) = too_long_conversation(UpstreamApi::Responses).await;
    let client = world.client();
    let last = ask("And now?").within(&conversation).field("truncation", "auto");
    client.respond(&last.clone().field("max_output_tokens", 200)).await;
    assert_eq!(users(&world.last_view().await), ["My city is Bonn", "And now?"]);

    let message =
        too_long(&client.refused(Mode::Whole, &last.field("max_output_tokens", 500)).await);
    assert!(message.contains("'max_output_tokens'"), "{message}");
}

#[tokio::test]
async fn new_input_is_never_truncated() {
    let (world, conversation) = too_long_conversation(UpstreamApi::Responses).await;
    let client = world.client();
    let asked = world.times_asked();
    let long = ask("very ".repeat(500)).within(&conversation).field("truncation", "auto");
    let message = too_long(&client.refused(Mode::Streamed, &long).await);
    assert!(message.contains("even without the oldest turns"), "{message}");
    assert_eq!(world.times_asked(), asked);
}

#[tokio::test]
async fn truncated_replay_is_reported_by_position() {
    let world = world_with(|upstream| upstream.context_window = Some(200)).await;
    let reply = |role: &str, text: &str| json!({"role": role, "content": text.repeat(100)});
    let input = json!([
        {"role": "developer", "content": "Be brief."},
        reply("user", "one "),
        reply("assistant", "two "),
        reply("user", "three "),
    ]);
    let client = world.client();
    let turn = client.respond(&ask(input).field("truncation", "auto")).await;
    let view = world.last_view().await;
    assert_eq!(view.len(), 2);
    assert_eq!(view[0], "developer: Be brief.");
    let report = client.report(turn.id()).await;
    let places = report["truncated"].as_array().unwrap().iter().map(|item| &item["position"]);
    assert_eq!(places.collect::<Vec<_>>(), [&json!(1), &json!(2)]);
}

#[tokio::test]
async fn fitting_input_is_unchanged() {
    let world = world_with(|upstream| upstream.context_window = Some(100_000)).await;
    let client = world.client();
    let conversation = add_three_turns(&client).await;
    let last = ask("And now?").within(&conversation).field("truncation", "auto");
    let turn = client.respond(&last).await;
    assert_eq!(users(&world.last_view().await).len(), 4);
    assert_eq!(turn.header("antiphon-truncated"), None);
    assert_eq!(client.report(turn.id()).await["truncated"], json!([]));
    assert_eq!(world.last_request().body["truncation"], "auto");
}

/// The other way out: what is too long to be answered is compacted before it is measured.
#[tokio::test]
async fn compacted_input_is_not_rejected() {
    for api in [UpstreamApi::Chat, UpstreamApi::Anthropic] {
        let world = world_with(|upstream| {
            upstream.api = api;
            upstream.context_window = Some(2000);
        })
        .await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        for _ in 0..8 {
            let reply = assistant(&"very ".repeat(300));
            client.add_items(&conversation, &[user("Go on."), reply]).await;
        }
        let management = json!([{"type": "compaction", "compact_threshold": 1000}]);
        let last = ask("And now?").within(&conversation);
        let turn = client.respond(&last.field("context_management", management)).await;
        assert_eq!(turn.status(), "completed");
        turn.item("compaction");
        let view = world.last_view().await;
        let summary = "The conversation so far was compacted";
        assert!(view.iter().any(|line| line.contains(summary)), "{view:?}");
        let report = client.report(turn.id()).await;
        let left_out = report["truncated"].as_array().unwrap();
        assert!(!left_out.is_empty(), "not all of it could be summed up");
    }
}
