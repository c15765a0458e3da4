//! A compaction that only its maker can read.

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::json;

use super::automatic::with_auto_compaction;
use super::upstream_compaction;
use crate::support::{MODEL, MODES, Mode, SIM, Turn, World, ask, assistant, invalid, user};

/// A turn of a conversation, behind another, whose answer begins with the upstream's own
/// compaction.
async fn compacted_there(world: &World, mode: Mode, conversation: &str) -> Turn {
    let client = world.client();
    client.turn(mode, &ask("My color is purple").within(conversation)).await;
    let answer = Answer::new(MODEL).item(upstream_compaction("cmp_1")).message("Well.");
    world.script(Reply::sse(answer.frames()));
    client.turn(mode, &with_auto_compaction(ask("My dog is Biscuit").within(conversation))).await
}

#[tokio::test]
async fn other_model_gets_the_compacted_items() {
    for mode in MODES {
        for model in [SIM, "foreign-model"] {
            let world = World::new().await;
            let client = world.client();
            let conversation = client.new_conversation().await;
            compacted_there(&world, mode, &conversation).await;

            let asked = ask("show context").model(model).within(&conversation);
            let turn = client.turn(mode, &asked).await;

            assert_eq!(turn.header("antiphon-repairs"), Some("foreign_compaction=1"));
            let repair = &client.report(turn.id()).await["repairs"][0];
            assert_eq!(
                (&repair["item_id"], &repair["action"]),
                (&json!("cmp_1"), &json!("expanded"))
            );
            if model == SIM {
                assert_eq!(turn.text().lines().count(), 5, "{}", turn.text());
            } else {
                assert_eq!(
                    world.last_view().await[..4],
                    [
                        "user: My color is purple",
                        "assistant: Noted.",
                        "user: My dog is Biscuit",
                        "assistant: Well.",
                    ]
                );
            }
            client.turn(mode, &ask("And?").within(&conversation)).await;
            let own = world.last_request().input()[2].clone();
            assert_eq!(own, upstream_compaction("cmp_1"));
        }
    }
}

#[tokio::test]
async fn foreign_compaction_without_items_is_rejected() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let turn = compacted_there(&world, mode, &conversation).await;
        let asked = world.times_asked();
        let input =
            json!([user("My dog is Biscuit"), turn.output()[0], assistant("Well."), user("And?")]);

        let refused = client.refused(mode, &ask(input).model(SIM)).await;

        let message = "The compaction item 'cmp_1' was created by another model, and only that \
                       model can read it. The items that it replaces are not stored here. Use \
                       that model, or leave the item out.";
        let param = Some("input[1].encrypted_content");
        assert_eq!(refused, invalid(param, Some("invalid_encrypted_content"), message));
        assert_eq!(world.times_asked(), asked);
    }
}

#[tokio::test]
async fn unknown_compaction_passes_only_to_a_possible_origin() {
    let world = World::new().await;
    let client = world.client();
    let own = upstream_compaction("cmp_of_elsewhere");
    let input = json!([own, user("Hello")]);
    client.respond(&ask(input.clone())).await;
    assert_eq!(world.last_request().input()[0], own);
    let answer = client.post("/v1/responses", ask(input).model(SIM).body()).await;
    assert_eq!(answer.refused().body["error"]["param"], "input[0].encrypted_content");
}

#[tokio::test]
async fn unreadable_compaction_does_not_end_the_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        compacted_there(&world, mode, &conversation).await;
        let error = json!({"error": {"message": "The encrypted content could not be verified.",
            "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content"}});
        world.script(Reply::json(StatusCode::BAD_REQUEST, &error));

        let turn = client.turn(mode, &ask("What is my color?").within(&conversation)).await;

        assert_eq!(turn.text(), "purple");
        assert_eq!(turn.header("antiphon-repairs"), Some("foreign_compaction=1"));
        assert_eq!(world.last_view().await.len(), 5);
    }
}
