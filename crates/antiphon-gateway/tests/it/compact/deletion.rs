//! Deleted items, and forks from before a compaction.

use serde_json::json;

use super::automatic::{compacting_world, with_auto_compaction};
use super::{SUMMARY, long_text, script_summary, summary_message};
use crate::support::{MODES, SIM, World, ask, text};

#[tokio::test]
async fn deleted_compaction_restores_the_compacted_items() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.turn(mode, &ask(long_text()).within(&conversation)).await;
        script_summary(&world);
        let turn =
            client.turn(mode, &with_auto_compaction(ask("Hello").within(&conversation))).await;
        let compaction = turn.item("compaction");
        client.respond(&ask("And?").within(&conversation)).await;
        assert!(world.last_view().await.contains(&summary_message(SUMMARY)));

        let id = text(&compaction["id"]);
        client.delete(&format!("/v1/conversations/{conversation}/items/{id}")).await.json();

        client.respond(&ask("Well?").within(&conversation)).await;
        let view = world.last_view().await;
        assert_eq!(view.len(), 7);
        assert_eq!(view[1..4], ["assistant: Noted.", "user: Hello", "assistant: Noted."]);
        client
            .respond(
                &ask(json!([compaction, {"role": "user", "content": "Hm."}])).within(&conversation),
            )
            .await;
        assert_eq!(world.last_view().await.len(), 9);
    }
}

#[tokio::test]
async fn fork_before_a_compaction_has_the_full_history() {
    let world = compacting_world().await;
    let client = world.client();
    let before = client.respond(&ask(long_text())).await;
    script_summary(&world);
    let after = client.respond(&with_auto_compaction(ask("Hello").after(before.id()))).await;
    after.item("compaction");

    client.respond(&ask("Hello").after(before.id())).await;

    assert_eq!(world.last_view().await[1..], ["assistant: Noted.", "user: Hello"]);
    client.respond(&ask("And?").after(after.id())).await;
    assert_eq!(
        world.last_view().await[1..],
        ["user: Hello", &summary_message(SUMMARY), "assistant: Noted.", "user: And?"]
    );
}

#[tokio::test]
async fn response_within_a_chain_can_be_deleted() {
    let world = World::new().await;
    let client = world.client();
    let before = client.respond(&ask(long_text()).model(SIM)).await;
    let wished = with_auto_compaction(ask("My dog is Biscuit.").after(before.id()).model(SIM));
    let after = client.respond(&wished).await;
    after.item("compaction");
    client.delete(&format!("/v1/responses/{}", before.id())).await.json();
    let turn = client.respond(&ask("What is my dog?").after(after.id()).model(SIM)).await;
    assert!(turn.text().contains("Biscuit"), "{}", turn.text());
}
