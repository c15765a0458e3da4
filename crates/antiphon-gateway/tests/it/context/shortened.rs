//! Turns whose history was truncated or compacted.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use super::{assert_sent, sources};
use crate::support::{Ask, Client, MODEL, MODES, World, ask, text};

/// A history beyond the least threshold of a compaction.
fn long_text() -> String {
    "My color is purple. ".repeat(400)
}

/// A conversation of three turns.
async fn three_turns(client: &Client) -> String {
    let conversation = client.new_conversation().await;
    for fact in ["My color is purple. ", "My dog is Biscuit. ", "My city is Bonn. "] {
        client.respond(&ask(fact.repeat(20)).within(&conversation)).await;
    }
    conversation
}

fn error(param: &str, code: &str, message: &str) -> Reply {
    let error = json!({"error": {"message": message, "type": "invalid_request_error",
        "param": param, "code": code}});
    Reply::json(StatusCode::BAD_REQUEST, &error)
}

fn too_long() -> Reply {
    let message = "Your input exceeds the context window of this model. Please adjust your input \
                   and try again.";
    error("input", "context_length_exceeded", message)
}

fn with_auto_compaction(ask: Ask) -> Ask {
    ask.field("context_management", json!([{"type": "compaction", "compact_threshold": 1000}]))
}

/// A gateway in front of an upstream that is known not to compact by itself.
async fn compacting_world() -> World {
    let world = World::new().await;
    let message = "Unknown parameter: 'context_management'.";
    world.script(error("context_management", "unknown_parameter", message));
    world.client().respond(&with_auto_compaction(ask("Hello"))).await;
    world
}

/// The faults of the items that were left out.
fn left_out(context: &Value) -> Vec<&str> {
    let items = context["left_out"].as_array().expect("a context lists omissions");
    items.iter().map(|item| text(&item["fault"])).collect()
}

#[tokio::test]
async fn truncated_items_are_listed_with_their_reason() {
    for mode in MODES {
        for rejections in 1..=2 {
            let world = World::new().await;
            let client = world.client();
            let conversation = three_turns(&client).await;
            for _ in 0..rejections {
                world.script(too_long());
            }
            let ask = ask("And?").within(&conversation).field("truncation", "auto");

            let turn = client.turn(mode, &ask).await;

            let context = assert_sent(&world, &client, &turn).await;
            let faults = left_out(&context);
            assert!(!faults.is_empty());
            assert!(faults.iter().all(|fault| *fault == "truncated"), "{faults:?}");
            let items = context["items"].as_array().expect("it is there").len();
            assert_eq!(items + faults.len(), 7);
            client.respond(&crate::support::ask("Next").within(&conversation)).await;
        }
    }
}

#[tokio::test]
async fn summary_stands_for_the_compacted_items() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let first = client.turn(mode, &ask(long_text())).await;
        world.script(Reply::sse(Answer::new(MODEL).message("The user likes Bonn.").frames()));
        let ask_now = with_auto_compaction(ask("What is my color?").after(first.id()));

        let turn = client.turn(mode, &ask_now).await;

        let context = assert_sent(&world, &client, &turn).await;
        assert_eq!(sources(&context), ["stored", "compaction", "input"]);
        assert_eq!(left_out(&context), ["compacted"]);
        let report = client.report(turn.id()).await;
        assert!(report.get("view").is_none());

        let next = client.turn(mode, &ask("And?").after(turn.id())).await;
        let context = assert_sent(&world, &client, &next).await;
        assert_eq!(sources(&context)[2], "compaction");
    }
}

#[tokio::test]
async fn compaction_of_the_upstream_is_shown_as_it_was_sent() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask(long_text())).await;
    let compaction = json!({"id": "cmp_1", "type": "compaction",
        "encrypted_content": antiphon_mock::encrypted_content(MODEL, "cmp_1")});
    world
        .script(Reply::sse(Answer::new(MODEL).item(compaction.clone()).message("purple").frames()));
    let compacted =
        client.respond(&with_auto_compaction(ask("What is my color?").after(first.id()))).await;

    let next = client.respond(&ask("And?").after(compacted.id())).await;

    let context = assert_sent(&world, &client, &next).await;
    assert!(sources(&context).contains(&"compaction"), "{context:#}");
    assert!(left_out(&context).contains(&"compacted"));
}
