//! A deleted item never reaches the model again.

use serde_json::{Value, json};

use crate::support::{
    Client, MODES, Mode, Turn, World, ask, assistant_again, ids, reference, text, typed_user, user,
};

const SECRET: &str = "My color is purple";

/// A conversation that has heard the secret and something else.
async fn receive(client: &Client, mode: Mode) -> (String, Turn) {
    let conversation = client.new_conversation().await;
    client.turn(mode, &ask(json!([typed_user(SECRET)])).within(&conversation)).await;
    let latest = client
        .turn(mode, &ask(json!([typed_user("My dog is Biscuit")])).within(&conversation))
        .await;
    (conversation, latest)
}

/// Deletes the secret; the item as it was.
async fn delete_secret(client: &Client, conversation: &str) -> Value {
    let secret = client.items(conversation).await[0].clone();
    let id = text(&secret["id"]);
    let path = format!("/v1/conversations/{conversation}/items/{id}");
    let shown = client.delete(&path).await.json();
    assert_eq!((&shown["id"], &shown["object"]), (&json!(conversation), &json!("conversation")));
    assert_eq!(client.get(&path).await.status(), 404);
    assert_eq!(client.delete(&path).await.status(), 404);
    secret
}

async fn assert_forgotten(world: &World) {
    let sent = world.last_request().raw;
    let sent = String::from_utf8_lossy(&sent);
    assert!(!sent.contains("purple"), "{sent}");
    world.last_view().await;
}

#[tokio::test]
async fn deleted_item_is_absent_from_conversation_and_fork() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (conversation, latest) = receive(&client, mode).await;
        let fork = client.turn(mode, &ask("Hello").after(latest.id())).await;
        delete_secret(&client, &conversation).await;

        let question = "What is my color and my dog?";
        for asking in [
            ask(question).within(&conversation),
            ask(question).after(latest.id()),
            ask(question).after(fork.id()),
        ] {
            assert_eq!(client.turn(mode, &asking).await.text(), "Biscuit");
            assert_forgotten(&world).await;
        }
        let items = client.items(&conversation).await;
        assert_eq!(items.len(), 5);
        assert!(!json!(items).to_string().contains("purple"));
    }
}

#[tokio::test]
async fn replay_by_id_does_not_restore_a_deleted_item() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (conversation, latest) = receive(&client, mode).await;
        let secret = delete_secret(&client, &conversation).await;

        for asking in [
            ask(json!([secret, user("What is my dog?")])).within(&conversation),
            ask(json!([secret, user("What is my dog?")])).after(latest.id()),
            ask(json!([reference(&secret["id"]), user("What is my dog?")])).within(&conversation),
        ] {
            let turn = client.turn(mode, &asking).await;
            assert_eq!(turn.text(), "Biscuit");
            assert_eq!(turn.header("antiphon-repairs"), Some("deleted_item=1"));
            let repair = &client.report(turn.id()).await["repairs"][0];
            assert_eq!((&repair["position"], &repair["action"]), (&json!(0), &json!("dropped")));
            assert_forgotten(&world).await;
        }
    }
}

#[tokio::test]
async fn replay_by_text_does_not_restore_a_deleted_item() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (conversation, latest) = receive(&client, mode).await;
        delete_secret(&client, &conversation).await;

        let replay = json!([
            typed_user(SECRET),
            typed_user("My dog is Biscuit"),
            assistant_again(latest.item("message")),
            typed_user("What is my dog?"),
        ]);
        let turn = client.turn(mode, &ask(replay).within(&conversation)).await;

        assert_eq!(turn.text(), "Biscuit");
        assert_eq!(turn.header("antiphon-repairs"), Some("deleted_item=1"));
        assert_eq!(turn.header("antiphon-resent"), Some("2"));
        assert_forgotten(&world).await;
    }
}

#[tokio::test]
async fn deleted_item_can_be_added_again() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (conversation, _) = receive(&client, mode).await;
        let secret = delete_secret(&client, &conversation).await;

        let added = client.add_items(&conversation, std::slice::from_ref(&secret)).await;

        assert_eq!(added[0]["id"], secret["id"]);
        let items = client.items(&conversation).await;
        assert_eq!(ids(&items).last(), Some(&secret["id"].as_str().unwrap()));
        let asking = ask("What is my color?").within(&conversation);
        assert_eq!(client.turn(mode, &asking).await.text(), "purple");
    }
}

#[tokio::test]
async fn conversation_works_without_a_deleted_call() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&conversation);
    let called = client.respond(&say("Echo hello".into())).await;
    let answer = crate::support::output(called.call_id(), "hello");
    client.respond(&say(json!([answer]))).await;
    let id = called.item("function_call")["id"].as_str().unwrap();
    let path = format!("/v1/conversations/{conversation}/items/{id}");
    client.delete(&path).await.json();

    let next = client.respond(&say(SECRET.into())).await;

    assert_eq!(next.text(), "Noted.");
    let view = world.last_view().await;
    assert!(view.iter().all(|line| !line.starts_with("call")), "{view:?}");
}

#[tokio::test]
async fn deletions_survive_a_restart() {
    let mut world = World::new().await;
    let (conversation, latest) = receive(&world.client(), Mode::Whole).await;
    let secret = delete_secret(&world.client(), &conversation).await;
    world.kill_and_start().await;
    let replay = ask(json!([secret, user("What is my dog?")]));
    for asking in [replay.clone().within(&conversation), replay.after(latest.id())] {
        assert_eq!(world.client().respond(&asking).await.text(), "Biscuit");
        assert_forgotten(&world).await;
    }
}
