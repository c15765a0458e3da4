//! After a refusal because of stored items, a corrected request is sent once.

use antiphon_mock::{Answer, Reply};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{MODEL, MODES, Mode, World, output, thinking_and_calling, user};

#[tokio::test]
async fn call_of_another_client_is_synced_and_answered() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let first = json!({"conversation": conversation, "input": [user("Hi.")]});
        world.turn(mode, first).await;
        world.provider.script(thinking_and_calling());
        let past = json!({"conversation": conversation, "input": [user("Echo hi.")]});
        world.turn_of_other_client(past).await;

        let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
        let next = world.turn(mode, next).await;
        assert_eq!(next.repairs(), [("unanswered_call", "answered")]);
        assert_eq!(next.report.resynced_after, Some("unanswered_call"));
        assert_eq!(world.provider.refusals().len(), 1);
        let bye = json!({"conversation": conversation, "input": [user("Bye.")]});
        world.turn(mode, bye).await;
        assert_eq!(world.provider.refusals().len(), 1);
    }
}

#[tokio::test]
async fn declared_foreign_write_is_not_refused() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let first = json!({"conversation": conversation, "input": [user("Hi.")]});
    world.turn(Mode::Whole, first).await;
    world.provider.script(thinking_and_calling());
    let past = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.turn_of_other_client(past).await;
    world.client.mark_stale("account", &conversation);
    let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.provider.refusals(), []);
}

#[tokio::test]
async fn refused_reference_is_left_out() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let unknown = json!({"type": "item_reference", "id": "msg_lost"});
    let body = json!({"conversation": conversation, "input": [unknown, user("Hi.")]});
    let answered = world.turn(Mode::Whole, body).await;
    assert_eq!(answered.repairs(), [("unresolved_reference", "dropped")]);
    assert_eq!(world.sent(), ["user: Hi."]);
    let next = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, next).await;
}

#[tokio::test]
async fn full_replay_is_resent_without_refused_item() {
    let world = World::new().await;
    let unknown = json!({"type": "item_reference", "id": "msg_lost"});
    let answered = world.turn(Mode::Whole, json!({"input": [unknown, user("Hi.")]})).await;
    assert_eq!(answered.repairs(), [("unresolved_reference", "dropped")]);
    assert_eq!(world.list_requests(), 0);
}

#[tokio::test]
async fn unavoidable_refusal_is_forwarded() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let body = json!({"conversation": conversation, "input": [output("call_none", "hi")]});
    let refused = world.attempt(Mode::Whole, body).await;
    assert_eq!(refused.status, 400);
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("No tool call found for function call output"), "{message}");
    assert_eq!(world.provider.turns().len(), 1);
    let next = json!({"conversation": conversation, "input": [user("Hi.")]});
    world.turn(Mode::Whole, next).await;
}

#[tokio::test]
async fn provider_refuses_lost_response() {
    let world = World::new().await;
    let first = world.turn(Mode::Whole, json!({"input": [user("Hi.")]})).await;
    world.provider.delete_response(first.id());
    for _ in 0..2 {
        let next = json!({"previous_response_id": first.id(), "input": [user("So?")]});
        let refused = world.attempt(Mode::Whole, next).await;
        assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
    }
}

#[tokio::test]
async fn stateless_refusal_leaves_ledger_fresh() {
    for (status, asked) in [(429, 1), (401, 1), (500, 2), (400, 2)] {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let hi = json!({"conversation": conversation, "input": [user("Hi.")]});
        world.turn(Mode::Whole, hi).await;
        let error = json!({"error": {"message": "No."}});
        let status = StatusCode::from_u16(status).unwrap();
        world.provider.reply_instead(Method::POST, "/responses", Reply::json(status, &error));
        let body = || json!({"conversation": conversation, "input": [user("And now?")]});
        assert_eq!(world.attempt(Mode::Whole, body()).await.status, status.as_u16());
        world.turn(Mode::Whole, body()).await;
        assert_eq!(world.list_requests(), asked, "{status}");
    }
}

#[tokio::test]
async fn item_without_reasoning_loses_its_id() {
    let world = World::new().await;
    world.provider.script(Answer::new(MODEL).reasoning("Hm.").message("Hello."));
    let first = world.turn(Mode::Whole, json!({"input": [user("Hi.")]})).await;
    let reply: Value = first.output()[1].clone();
    let replay = json!({"input": [user("Hi."), reply, user("And now?")]});
    let replay = world.turn(Mode::Whole, replay).await;
    assert_eq!(replay.repairs(), [("missing_reasoning", "id_removed")]);
}
