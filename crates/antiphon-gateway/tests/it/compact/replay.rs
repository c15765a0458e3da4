//! Clients that send again what stands before a compaction, or beside it.

use serde_json::json;

use super::{
    SUMMARY, compacted, compaction_of, output_of, script_missing_route, script_summary,
    summary_message,
};
use crate::support::{MODES, World, ask, assistant, assistant_again, user, without};

#[tokio::test]
async fn resent_items_before_the_compaction_are_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: serde_json::Value| ask(input).within(&conversation);
        let first = client.turn(mode, &say("My color is purple".into())).await;
        script_missing_route(&world);
        script_summary(&world);
        let compaction = compaction_of(&compacted(&client, &say("And?".into())).await);
        let added = client.add_items(&conversation, std::slice::from_ref(&compaction)).await;
        let replay = json!([
            user("My color is purple"),
            assistant_again(first.item("message")),
            without(&added[0], "id"),
            user("What is my color?"),
        ]);

        let turn = client.turn(mode, &say(replay)).await;

        assert_eq!((turn.text(), turn.header("antiphon-resent")), ("purple", Some("3")));
        let view = world.last_view().await;
        assert_eq!(
            view,
            ["user: My color is purple", &summary_message(SUMMARY), "user: What is my color?"]
        );
        assert_eq!(client.items(&conversation).await.len(), 5);
    }
}

#[tokio::test]
async fn stateless_client_may_keep_or_drop_compacted_items() {
    let world = World::new().await;
    let client = world.client();
    script_missing_route(&world);
    script_summary(&world);
    let old = [user("My color is purple"), assistant("Noted.")];
    let compaction = compaction_of(&compacted(&client, &ask(old.to_vec())).await);
    let new = [compaction, assistant("Well."), user("Hello")];

    let kept: Vec<_> = old.iter().chain(&new).cloned().collect();
    client.respond(&ask(kept).unstored()).await;
    let with_words =
        ["user: My color is purple", &summary_message(SUMMARY), "assistant: Well.", "user: Hello"];
    assert_eq!(world.last_view().await, with_words);

    client.respond(&ask(new.to_vec()).unstored()).await;
    assert_eq!(world.last_view().await, with_words[1..]);
}

#[tokio::test]
async fn late_output_of_a_compacted_call_is_accepted() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello")).await;
    script_missing_route(&world);
    script_summary(&world);
    let nothing = ask("").field("input", serde_json::Value::Null).after(called.id());
    let mut input = output_of(&compacted(&client, &nothing).await);
    input.remove(0);
    input
        .push(json!({"type": "function_call_output", "call_id": called.call_id(), "output": "hi"}));

    let turn = client.respond(&ask(input).after(called.id())).await;

    assert_eq!(turn.text(), "echo said: hi");
    let view = world.last_view().await;
    let call = r#"call echo {"text":"hello"}"#;
    assert_eq!(
        view,
        ["user: Echo hello", "reasoning", call, &summary_message(SUMMARY), "output: hi"]
    );
}
