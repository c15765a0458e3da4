//! A compaction that is asked for by an input item.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use super::automatic::compacting_world;
use super::{SUMMARY, script_rejection, script_summary, summary_message, upstream_compaction};
use crate::support::{MODEL, MODES, SIM, World, ask, invalid, lines, user};

fn trigger() -> Value {
    json!({"type": "compaction_trigger"})
}

#[tokio::test]
async fn trigger_returns_only_the_compaction() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let first = client.turn(mode, &ask("My color is purple")).await;
        script_summary(&world);

        let turn = client.turn(mode, &ask(json!([trigger()])).after(first.id())).await;

        assert_eq!(
            (lines(turn.output()), turn.status()),
            (vec!["compaction".to_owned()], "completed")
        );
        assert!(turn.response["usage"]["total_tokens"].as_u64().is_some_and(|total| total > 0));
        let asked = ask("What is my color?").after(turn.id());
        assert_eq!(client.turn(mode, &asked).await.text(), "purple");
        let view = world.last_view().await;
        assert_eq!(
            view,
            ["user: My color is purple", &summary_message(SUMMARY), "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn supporting_upstream_gets_the_trigger() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        world.script(Reply::sse(Answer::new(MODEL).item(upstream_compaction("cmp_1")).frames()));
        let input = json!([user("My color is purple"), trigger()]);

        let turn = client.turn(mode, &ask(input)).await;

        assert_eq!(lines(turn.output()), ["compaction"]);
        assert_eq!(world.last_view().await, ["user: My color is purple", "compaction_trigger"]);
        client.turn(mode, &ask("And?").after(turn.id())).await;
        let view = world.last_view().await;
        assert_eq!(view, ["user: My color is purple", "compaction", "user: And?"]);
    }
}

#[tokio::test]
async fn gateway_compacts_if_the_upstream_ignores_the_trigger() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        world.script(Reply::sse(Answer::new(MODEL).reasoning("Hm.").message("Noted.").frames()));
        script_summary(&world);
        let input = json!([user("My color is purple"), trigger()]);

        let turn = client.turn(mode, &ask(input.clone())).await;

        assert_eq!(lines(turn.output()), ["compaction"]);
        assert_eq!(world.upstream.requests().len(), 2);
        script_summary(&world);
        client.turn(mode, &ask(input)).await;
        assert_eq!(world.upstream.requests().len(), 3, "the upstream was asked to compact again");
    }
}

#[tokio::test]
async fn failed_trigger_returns_the_error_and_stores_nothing() {
    for mode in MODES {
        let world = compacting_world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.turn(mode, &ask("My color is purple").within(&conversation)).await;
        let before = client.items(&conversation).await;
        let error = script_rejection(&world);

        let refused = client.refused(mode, &ask(json!([trigger()])).within(&conversation)).await;

        assert_eq!((refused.status, refused.body), (400, error));
        assert_eq!(client.items(&conversation).await, before);
    }
}

#[tokio::test]
async fn trigger_is_last_or_before_its_compaction() {
    let world = World::new().await;
    let client = world.client();
    let input = json!([trigger(), user("Hello")]);
    let answer = client.post("/v1/responses", ask(input).model(SIM).body()).await;
    let message = "Invalid 'input[0]': a compaction_trigger must be the final input item.";
    assert_eq!(answer.refused(), invalid(Some("input[0]"), Some("invalid_value"), message));

    let first = json!([user("My color is purple."), trigger()]);
    let turn = client.respond(&ask(first).model(SIM)).await;
    let replay = json!([
        user("My color is purple."),
        trigger(),
        turn.output()[0],
        user("What is my color?"),
    ]);
    let turn = client.respond(&ask(replay).model(SIM)).await;
    assert!(turn.text().contains("purple"), "{}", turn.text());
}
