//! A compaction is its tenant's, as it was made.

use antiphon_gateway::settings::{Faults, Secret};
use serde_json::{Value, json};

use super::{compacted, compaction_of, output_of, script_missing_route, script_summary};
use crate::support::{Client, MODES, World, ask, invalid, text, user};

const REFUSAL: &str =
    "The encrypted content could not be verified: it was changed, or belongs to another caller.";

async fn sealed(world: &World, client: &Client) -> Value {
    script_missing_route(world);
    script_summary(world);
    compaction_of(&compacted(client, &ask("My color is purple")).await)
}

fn touched(compaction: &Value) -> Value {
    let mut touched = compaction.clone();
    let content = text(&compaction["encrypted_content"]);
    let (rest, last) = content.split_at(content.len() - 2);
    let other = if last.starts_with('A') { "B" } else { "A" };
    touched["encrypted_content"] = format!("{rest}{other}{}", &last[1..]).into();
    touched
}

#[tokio::test]
async fn modified_or_foreign_seal_is_rejected() {
    for faults in [Faults::Repair, Faults::Reject] {
        for mode in MODES {
            let world = World::with(|settings| settings.faults = faults).await;
            let (alice, bob) = (world.caller("token-of-alice"), world.caller("token-of-bob"));
            let compaction = sealed(&world, &alice).await;
            let asked = world.times_asked();
            let param = Some("input[1].encrypted_content");
            let expected = invalid(param, Some("invalid_encrypted_content"), REFUSAL);

            for (client, compaction) in [(&bob, compaction.clone()), (&alice, touched(&compaction))]
            {
                let input = json!([user("Hello"), compaction, user("And?")]);
                assert_eq!(client.refused(mode, &ask(input)).await, expected);
            }
            assert_eq!(world.times_asked(), asked);
        }
    }
}

#[tokio::test]
async fn modified_seal_with_a_stored_id_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let compaction = sealed(&world, &client).await;
    let first = client.respond(&ask(json!([compaction, user("Hello")]))).await;
    let input = json!([touched(&compaction), user("And?")]);
    let answer = client.post("/v1/responses", ask(input).after(first.id()).body()).await;
    let param = Some("input[0].encrypted_content");
    assert_eq!(answer.refused(), invalid(param, Some("invalid_encrypted_content"), REFUSAL));
}

#[tokio::test]
async fn foreign_compaction_cannot_be_added_to_a_conversation() {
    let world = World::new().await;
    let (alice, bob) = (world.caller("token-of-alice"), world.caller("token-of-bob"));
    let compaction = sealed(&world, &alice).await;
    let conversation = bob.new_conversation().await;
    let param = Some("items[0].encrypted_content");
    let expected = invalid(param, Some("invalid_encrypted_content"), REFUSAL);
    for path in ["/v1/conversations", &format!("/v1/conversations/{conversation}/items")] {
        let refused = bob.post(path, &json!({"items": [compaction]})).await.refused();
        assert_eq!(refused, expected);
    }
    assert_eq!(bob.items(&conversation).await, [] as [Value; 0]);
    let missing = bob.post("/v1/conversations", &json!({"items": [{"type": "compaction"}]})).await;
    assert_eq!(
        missing.refused().body["error"]["message"],
        "Missing required parameter: 'items[0].encrypted_content'."
    );
}

#[tokio::test]
async fn seal_is_valid_after_a_restart() {
    let mut world =
        World::with(|settings| settings.secrets = vec![Secret::new("the operator's")]).await;
    let mut input = {
        let client = world.client();
        script_missing_route(&world);
        script_summary(&world);
        output_of(&compacted(&client, &ask("My color is purple")).await)
    };
    input.push(user("What is my color?"));
    world.kill_and_start().await;
    assert_eq!(world.client().respond(&ask(input)).await.text(), "purple");
}

#[tokio::test]
async fn compaction_content_is_shown_on_every_route() {
    let world = World::new().await;
    let client = world.client();
    let compaction = sealed(&world, &client).await;
    let conversation = client.new_conversation().await;
    client.add_items(&conversation, std::slice::from_ref(&compaction)).await;
    assert_eq!(client.items(&conversation).await, std::slice::from_ref(&compaction));
    let turn = client.respond(&ask(json!([compaction, user("Hello")]))).await;
    let listed = client.get(&format!("/v1/responses/{}/input_items", turn.id())).await.json();
    assert_eq!(listed["data"][1], compaction);
}
