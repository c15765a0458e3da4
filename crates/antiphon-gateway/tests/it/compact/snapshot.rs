//! A compaction by itself opens nothing and keeps nothing.

use antiphon_mock::{Answer, Reply};

use super::{SUMMARY, compacted, output_of, script_missing_route, summary_message};
use crate::support::{MODEL, World, ask, lines, user};

#[tokio::test]
async fn chain_continued_during_compaction_loses_nothing() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    script_missing_route(&world);
    let summary = world.script(Reply::sse(Answer::new(MODEL).message(SUMMARY).frames()).gated());

    let compacting = ask("").field("input", serde_json::Value::Null).after(first.id());
    let compacting = compacted(&client, &compacting);
    let going_on = async {
        world.request(2).await;
        let second = client.respond(&ask("My dog is Biscuit").after(first.id())).await;
        summary.release_all();
        second
    };
    let (compacted, second) = tokio::join!(compacting, going_on);

    let mut input = output_of(&compacted);
    assert_eq!(lines(&input), ["user: My color is purple", "compaction"]);
    let question = "What is my color and my dog?";
    let third = client.respond(&ask(question).after(second.id())).await;
    assert_eq!(third.text(), "purple, Biscuit");
    assert_eq!(world.last_view().await.len(), 5);
    input.push(user(question));
    client.respond(&ask(input)).await;
    let view = world.last_view().await;
    assert_eq!(
        view,
        ["user: My color is purple", &summary_message(SUMMARY), &format!("user: {question}")]
    );
}

#[tokio::test]
async fn compact_request_does_not_change_its_conversation() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let turn = client.respond(&ask("My color is purple").within(&conversation)).await;
    let before = client.items(&conversation).await;
    script_missing_route(&world);

    let compacted = compacted(&client, &ask("And?").after(turn.id())).await;

    assert_eq!(client.items(&conversation).await, before);
    let id = compacted["id"].as_str().expect("it has an id");
    assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status(), 404);
    client.respond(&ask("Hello").within(&conversation)).await;
    assert_eq!(world.last_view().await.len(), 3);
}
