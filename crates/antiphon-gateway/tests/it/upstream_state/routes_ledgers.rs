//! Ledgers learn from what passes on the other routes, so that the next turn need not ask.

use antiphon_gateway::settings::{Preset, State};
use antiphon_mock::{Answer, OnAbort, Reply, Script};
use http::StatusCode;
use serde_json::{Value, json};

use super::world::World;
use crate::support::{
    Client, MODEL, World as Scripted, ask, frames_until, invalid, text, typed_user,
};

async fn begun_with(client: &Client, items: &[Value]) -> String {
    let created = client.post("/v1/conversations", &json!({"items": items})).await.json();
    text(&created["id"]).to_owned()
}

fn items_of(conversation: &str) -> String {
    format!("/v1/conversations/{conversation}/items")
}

/// The state that the inspector shows of a conversation.
async fn state_in_inspector(client: &Client, conversation: &str) -> Value {
    let path = format!("/inspect/conversations/{conversation}.json");
    client.get(&path).await.json()["summary"]["state"]["state"].clone()
}

#[tokio::test]
async fn created_conversation_needs_no_sync() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;

    world.client().respond(&ask([typed_user("Hello.")]).within(&conversation)).await;

    assert_eq!(world.times_learnt(), 0);
    assert_eq!(world.holds(&conversation)[0], "user: Hello.");
}

#[tokio::test]
async fn conversation_with_items_is_synced_once() {
    let world = World::new().await;
    let dog = typed_user("My dog is Rex.");
    let conversation = begun_with(&world.client(), std::slice::from_ref(&dog)).await;

    let replay = ask([dog, typed_user("What is my dog?")]).within(&conversation);
    let answer = world.client().respond(&replay).await;
    world.client().respond(&ask([typed_user("Thanks.")]).within(&conversation)).await;

    assert_eq!(answer.text(), "Rex");
    assert_eq!(world.times_learnt(), 1);
    assert_eq!(world.holds(&conversation)[..2], ["user: My dog is Rex.", "user: What is my dog?"]);
}

#[tokio::test]
async fn added_items_are_known() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let added = world.client().add_items(&conversation, &[typed_user("My dog is Rex.")]).await;

    let replay = ask([added[0].clone(), typed_user("What is my dog?")]).within(&conversation);
    let answer = world.client().respond(&replay).await;

    assert_eq!(answer.text(), "Rex");
    assert_eq!(world.sent(), ["user: What is my dog?"]);
    assert_eq!(world.times_learnt(), 0);
}

#[tokio::test]
async fn deleted_item_is_not_resent() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let items = [typed_user("My dog is Rex."), typed_user("My cat is Tom.")];
    let added = world.client().add_items(&conversation, &items).await;
    let dog = format!("{}/{}", items_of(&conversation), text(&added[0]["id"]));
    world.client().delete(&dog).await.json();

    let replay = [added[0].clone(), added[1].clone(), typed_user("What is my dog?")];
    world.client().respond(&ask(replay).within(&conversation)).await;

    assert_eq!(world.sent(), ["user: What is my dog?"]);
    assert_eq!(world.given(), ["user: My cat is Tom.", "user: What is my dog?"]);
    assert_eq!(world.times_learnt(), 0);
}

#[tokio::test]
async fn rejected_items_keep_the_ledger_fresh() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let refused = world.client().post(&items_of(&conversation), &json!({"items": 7})).await;
    assert_eq!(refused.status(), 400);

    world.client().respond(&ask([typed_user("Hello.")]).within(&conversation)).await;

    assert_eq!(world.times_learnt(), 0);
}

#[tokio::test]
async fn not_found_makes_the_ledger_stale() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let added = world.client().add_items(&conversation, &[typed_user("My dog is Rex.")]).await;
    let item = format!("{}/{}", items_of(&conversation), text(&added[0]["id"]));
    world.past_gateway().delete(&item).await.json();
    assert_eq!(world.client().delete(&item).await.status(), 404);
    assert_eq!(state_in_inspector(&world.client(), &conversation).await, "stale");

    let replay = [added[0].clone(), typed_user("What is my dog?")];
    world.client().respond(&ask(replay).within(&conversation)).await;

    assert_eq!(state_in_inspector(&world.client(), &conversation).await, "healthy");
    assert_eq!(world.times_learnt(), 1);
    assert_eq!(world.given(), ["user: My dog is Rex.", "user: What is my dog?"]);
}

#[tokio::test]
async fn stale_ledger_stays_stale_after_additions() {
    let world = World::new().await;
    world.provider.set_on_abort(OnAbort::StorePart);
    let conversation = world.client().new_conversation().await;
    let call = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
    let begun = frames_until(&call, "response.output_item.done");
    let exchange = world.provider.script(Script::from(call).hang_after(begun));
    let echo = ask([typed_user("Echo hi.")]).within(&conversation);
    let mut events = world.client().stream(&echo).await;
    events.until("response.function_call_arguments.done").await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;

    world.client().add_items(&conversation, &[typed_user("My dog is Rex.")]).await;
    let next = ask([typed_user("What is my dog?")]).within(&conversation);
    let answer = world.client().respond(&next).await;

    assert_eq!(answer.text(), "Rex");
    assert_eq!(world.provider.refusals(), []);
    assert!(world.times_learnt() > 0);
}

#[tokio::test]
async fn items_of_an_unknown_conversation_are_synced() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    world.client().add_items(&conversation, &[typed_user("My dog is Rex.")]).await;

    let replay = [typed_user("My dog is Rex."), typed_user("What is my dog?")];
    let answer = world.client().respond(&ask(replay).within(&conversation)).await;

    assert_eq!(answer.text(), "Rex");
    assert_eq!(world.times_learnt(), 1);
    assert_eq!(world.sent(), ["user: What is my dog?"]);
}

#[tokio::test]
async fn changes_wait_for_the_open_turn() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let answer = Answer::new(MODEL).message("Hello.");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.provider.script(Script::from(answer).hang_after(begun));
    let hello = ask([typed_user("Hi.")]).within(&conversation);
    let mut events = world.client().stream(&hello).await;
    events.until("response.output_text.delta").await;

    let (client, path) = (world.client(), items_of(&conversation));
    let body = json!({"items": [typed_user("My dog is Rex.")]});
    let adding = tokio::spawn(async move { client.post(&path, &body).await.json() });
    // It has come when what came later is answered.
    world.client().get("/healthz").await;
    exchange.release_all();
    events.all().await;
    adding.await.expect("it is not ended");

    let held = ["user: Hi.", "assistant: Hello.", "user: My dog is Rex."];
    assert_eq!(world.holds(&conversation), held);
    assert_eq!(world.provider.refusals(), []);
    world.client().respond(&ask([typed_user("What is my dog?")]).within(&conversation)).await;
    assert_eq!(world.times_learnt(), 0);
}

#[tokio::test]
async fn long_wait_is_an_error() {
    let world = World::with(|settings| settings.turn_wait = std::time::Duration::ZERO).await;
    let conversation = world.client().new_conversation().await;
    let answer = Answer::new(MODEL).message("Hello.");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.provider.script(Script::from(answer).hang_after(begun));
    let hello = ask([typed_user("Hi.")]).within(&conversation);
    let mut events = world.client().stream(&hello).await;
    events.until("response.output_text.delta").await;

    let body = json!({"items": [typed_user("My dog is Rex.")]});
    let refused = world.client().post(&items_of(&conversation), &body).await.refused();

    let message = "Another process is currently operating on this conversation. Please retry in a \
                   few seconds.";
    assert_eq!(refused, invalid(Some("conversation"), Some("conversation_locked"), message));
    exchange.release_all();
    events.all().await;
}

#[tokio::test]
async fn deleted_objects_lose_their_ledger() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let hello = ask([typed_user("Hi.")]).within(&conversation);
    let response = world.client().respond(&hello).await.id().to_owned();
    for path in [format!("/v1/conversations/{conversation}"), format!("/v1/responses/{response}")] {
        assert_eq!(world.client().delete(&path).await.json()["deleted"], true);
        assert_eq!(world.client().delete(&path).await.status(), 404);
    }
    let report = world.client().get(&format!("/v1/responses/{response}/report")).await;
    assert_eq!(report.status(), 404);
    for gone in
        [ask([typed_user("Hi.")]).within(&conversation), ask([typed_user("Hi.")]).after(&response)]
    {
        let refused = world.client().create(crate::support::Mode::Whole, &gone).await;
        assert!([400, 404].contains(&refused.status()), "{}", refused.status());
    }
}

/// A gateway in front of a provider of which the test says every answer.
async fn scripted() -> Scripted {
    Scripted::with(|settings| {
        settings.upstreams[0].state = State::Upstream;
        settings.upstreams[0].capabilities = Some(Preset::OpenAi.capabilities());
    })
    .await
}

#[tokio::test]
async fn unrecorded_conversation_is_deleted_upstream() {
    let world = scripted().await;
    for received in [json!({"object": "conversation"}), json!([]), json!({"id": ""})] {
        world.script(Reply::json(StatusCode::OK, &received));
        let answer = world.client().post("/v1/conversations", &json!({})).await;
        assert_eq!(answer.status(), 502, "{received}");
        assert!(answer.server_error().contains("without an id"), "{received}");
    }
}

#[tokio::test]
async fn interrupted_change_is_synced() {
    let mut world = scripted().await;
    let made = json!({"id": "conv_x", "object": "conversation", "created_at": 1, "metadata": {}});
    world.script(Reply::json(StatusCode::OK, &made));
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = items_of(&conversation);
    world.script(Reply::json(StatusCode::OK, &json!({"object": "list"})).withhold_head());
    let body = json!({"items": [typed_user("My dog is Rex.")]});
    tokio::select! {
        _ = client.post(&path, &body) => panic!("it is not answered"),
        asked = world.request(1) => assert_eq!(asked.path, path),
    }

    world.kill_and_start().await;

    let list = json!({"object": "list", "data": [], "has_more": false, "last_id": null});
    world.script(Reply::json(StatusCode::OK, &list));
    world.script(Reply::sse(Answer::new(MODEL).message("Hello.").frames()));
    world.client().respond(&ask([typed_user("Hi.")]).within(&conversation)).await;
    assert_eq!(world.request(2).await.path, path);
}

#[tokio::test]
async fn added_item_without_its_id_gets_one() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let search = json!({"type": "file_search_call", "status": "completed", "queries": ["a"]});
    let body = json!({"items": [typed_user("Search."), search]});
    let added = world.client().post(&items_of(&conversation), &body).await;
    assert_eq!((added.status(), added.header("antiphon-repairs")), (200, Some("missing_id=1")));
    let id = world.items(&conversation)[1]["id"].clone();
    assert!(id.as_str().is_some_and(|id| id.starts_with("fs_")), "{id}");
}
