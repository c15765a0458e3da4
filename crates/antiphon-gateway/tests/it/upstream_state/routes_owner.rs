//! Who keeps what there is does not change, whatever the settings say later.

use antiphon_gateway::settings::{ModelPattern, Preset, Settings, State, UpstreamSettings};
use serde_json::{Value, json};

use super::world::World;
use crate::support::{ask, lines, text, typed_user};

fn state(settings: &mut Settings, state: State) {
    settings.upstreams[0].state = state;
}

/// An upstream where nobody is, for models of these names.
fn elsewhere(models: &str) -> UpstreamSettings {
    let url = "http://127.0.0.1:9/v1".parse().expect("it is a URL");
    UpstreamSettings {
        name: Some("elsewhere".to_owned()),
        models: vec![ModelPattern::new(models)],
        state: State::Upstream,
        capabilities: Some(Preset::OpenAi.capabilities()),
        ..UpstreamSettings::new(url, None)
    }
}

#[tokio::test]
async fn owner_gateway_never_changes() {
    let mut world = World::with(|settings| state(settings, State::Here)).await;
    let conversation = world.client().new_conversation().await;
    let first = ask([typed_user("My dog is Rex.")]).within(&conversation);
    let first = world.client().respond(&first).await;
    assert_eq!(world.provider.response_ids(), [""; 0]);

    world.start_again_with(|settings| state(settings, State::Upstream)).await;

    let dog = ask([typed_user("What is my dog?")]);
    for again in [dog.clone().within(&conversation), dog.after(first.id())] {
        assert_eq!(world.client().respond(&again).await.text(), "Rex");
        let sent = world.last_turn();
        assert_eq!(sent.body["store"], false);
        assert_eq!(sent.body["conversation"], Value::Null);
        assert_eq!(sent.body["previous_response_id"], Value::Null);
        assert_eq!(lines(sent.input())[0], "user: My dog is Rex.");
    }
    assert_eq!(world.client().items(&conversation).await.len(), 4);
    assert_eq!(world.client().stored_response(first.id()).await["id"], first.id());
    world.client().delete(&format!("/v1/conversations/{conversation}")).await.json();

    let new = world.client().new_conversation().await;
    assert!(world.provider.conversation_items(&new).is_some());
}

#[tokio::test]
async fn owner_upstream_never_changes() {
    let mut world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let first = ask([typed_user("My dog is Rex.")]).within(&conversation);
    let first = world.client().respond(&first).await;

    world.start_again_with(|settings| state(settings, State::Here)).await;

    let dog = ask([typed_user("What is my dog?")]);
    for again in [dog.clone().within(&conversation), dog.after(first.id())] {
        assert_eq!(world.client().respond(&again).await.text(), "Rex");
        assert_eq!(world.sent(), ["user: What is my dog?"]);
    }
    assert_eq!(world.client().items(&conversation).await.len(), 4);

    let new = world.client().new_conversation().await;
    assert!(world.provider.conversation_items(&new).is_none());
}

#[tokio::test]
async fn state_of_another_upstream_is_not_continued() {
    let world = World::with(|settings| settings.upstreams.insert(0, elsewhere("other-*"))).await;
    let conversation = world.client().new_conversation().await;
    let first = ask([typed_user("Hi.")]).within(&conversation);
    let first = world.client().respond(&first).await;

    let other = ask([typed_user("Hi.")]).model("other-1");
    for (asked, param) in [
        (other.clone().within(&conversation), "conversation"),
        (other.after(first.id()), "previous_response_id"),
    ] {
        for path in ["", "/input_tokens", "/compact"] {
            let path = format!("/v1/responses{path}");
            let refused = world.client().post(&path, asked.body()).await.refused();
            assert_eq!(refused.status, 400);
            let error = &refused.body["error"];
            assert_eq!(error["param"], param);
            let message = text(&error["message"]);
            assert!(message.contains("the upstream 'elsewhere'"), "{message}");
            assert!(message.contains("antiphon_model"), "{message}");
            assert!(!message.contains("127.0.0.1"), "{message}");
        }
    }
}

#[tokio::test]
async fn state_of_a_removed_upstream_is_an_error() {
    let mut world = World::new().await;
    let conversation = world.client().new_conversation().await;

    world.start_again_with(|settings| settings.upstreams = vec![elsewhere("*")]).await;

    let asked = ask([typed_user("Hi.")]).within(&conversation);
    let turn = world.client().post("/v1/responses", asked.body()).await;
    let shown = world.client().get(&format!("/v1/conversations/{conversation}")).await;
    for refused in [turn.refused(), shown.refused()] {
        assert_eq!(refused.status, 404);
        let message = text(&refused.body["error"]["message"]);
        assert!(!message.contains("127.0.0.1"), "{message}");
        assert!(message.contains(&conversation), "{message}");
    }
}

#[tokio::test]
async fn gateway_owns_conversations_without_upstream_support() {
    let world = World::with(|settings| {
        settings.upstreams[0].capabilities = Some(Preset::Azure.capabilities());
    })
    .await;
    let conversation = world.client().new_conversation().await;
    assert!(world.provider.conversation_items(&conversation).is_none());
    for reply in ["My dog is Rex.", "What is my dog?"] {
        let asked = ask([typed_user(reply)]).within(&conversation);
        let turn = world.client().respond(&asked).await;
        assert_eq!(world.client().stored_response(turn.id()).await["id"], turn.id());
    }
    let given = ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?"];
    assert_eq!(world.given(), given);
    assert_eq!(world.provider.response_ids(), [""; 0]);

    let chained = world.client().respond(&ask([typed_user("My cat is Tom.")])).await;
    assert_eq!(world.provider.response_ids(), [chained.id()]);
}

#[tokio::test]
async fn metadata_selects_the_upstream() {
    let world = World::with(|settings| {
        settings.upstreams[0].name = Some("house".to_owned());
        settings.upstreams[0].models = vec![ModelPattern::new("fake-*")];
        // Requests that name no model go to the first that answers for all.
        settings.upstreams.push(elsewhere("*"));
    })
    .await;
    for hint in [json!({"antiphon_model": "fake-model"}), json!({"antiphon_upstream": "house"})] {
        let body = json!({"metadata": hint});
        let created = world.client().post("/v1/conversations", &body).await.json();
        let conversation = text(&created["id"]);
        assert_eq!(created["metadata"], hint);
        let asked = ask([typed_user("My dog is Rex.")]).within(conversation);
        world.client().respond(&asked).await;
        assert_eq!(world.holds(conversation).len(), 2);
    }
    let sim = json!({"metadata": {"antiphon_model": "sim"}});
    let created = world.client().post("/v1/conversations", &sim).await.json();
    assert!(world.provider.conversation_items(text(&created["id"])).is_none());

    let unknown = json!({"metadata": {"antiphon_upstream": "nowhere"}});
    let refused = world.client().post("/v1/conversations", &unknown).await.refused();
    assert_eq!(
        (refused.status, &refused.body["error"]["param"]),
        (400, &json!("metadata.antiphon_upstream"))
    );
}
