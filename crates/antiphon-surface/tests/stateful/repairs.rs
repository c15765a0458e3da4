//! Stored items that would make a turn fail.

use antiphon_mock::{Answer, OnAbort, Reply, Script};
use http::{Method, StatusCode};
use serde_json::json;

use crate::world::{MODEL, MODES, Mode, World, output, thinking_and_calling, user};

/// Creates a conversation that ends with an unanswered call.
async fn with_open_call(world: &World) -> String {
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.turn(Mode::Whole, asked).await;
    conversation
}

#[tokio::test]
async fn unanswered_call_gets_one_placeholder() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = with_open_call(&world).await;
        let next = json!({"conversation": conversation, "input": "Never mind."});
        let next = world.turn(mode, next).await;
        let silence = "output: No output was recorded for this call.";
        assert_eq!(world.sent(), [silence, "user: Never mind."]);
        assert_eq!(next.repairs(), [("unanswered_call", "answered")]);
        assert_eq!(next.report.repairs[0].position, None);

        let last = json!({"conversation": conversation, "input": [user("Bye.")]});
        let last = world.turn(mode, last).await;
        assert_eq!(last.repairs(), []);
        assert_eq!(world.sent(), ["user: Bye."]);
    }
}

#[tokio::test]
async fn late_output_replaces_the_placeholder() {
    let world = World::new().await;
    let conversation = with_open_call(&world).await;
    let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
    world.turn(Mode::Whole, next).await;

    let late = json!([output("call_1", "hi"), user("There it is.")]);
    let late = json!({"conversation": conversation, "input": late});
    let late = world.turn(Mode::Streamed, late).await;
    assert_eq!(late.repairs(), [("late_output", "deleted_upstream"), ("late_output", "replaces")]);
    assert_eq!(world.sent(), ["output: hi", "user: There it is."]);
    let held = world.stored_items(&conversation);
    assert_eq!(held.iter().filter(|line| line.starts_with("output")).count(), 1);
    let bye = json!({"conversation": conversation, "input": [user("Bye.")]});
    world.turn(Mode::Whole, bye).await;
}

#[tokio::test]
async fn late_output_becomes_message_without_deletion() {
    let world = World::new().await;
    let conversation = with_open_call(&world).await;
    let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
    world.turn(Mode::Whole, next).await;
    let item = &world.provider.conversation_items(&conversation).unwrap()[3];
    let no_path = json!({"error": {"message": "Invalid URL (DELETE /v1/conversations)"}});
    let reply = Reply::json(StatusCode::NOT_FOUND, &no_path);
    world.provider.reply_instead(Method::DELETE, item["id"].as_str().unwrap(), reply);

    let late = json!([output("call_1", "hi"), user("There it is.")]);
    let late = world.turn(Mode::Whole, json!({"conversation": conversation, "input": late})).await;
    assert_eq!(late.repairs(), [("late_output", "told")]);
    assert!(world.sent()[0].starts_with("user: Late output of the function call call_1"));
    let again = json!([output("call_1", "hi"), user("Bye.")]);
    world.turn(Mode::Whole, json!({"conversation": conversation, "input": again})).await;
    assert_eq!(world.sent(), ["user: Bye."]);
}

#[tokio::test]
async fn lone_reasoning_is_deleted() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.set_on_abort(OnAbort::StorePart);
        let conversation = world.conversation().await;
        leave_in_reasoning(&world, json!({"conversation": conversation})).await;
        let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
        let next = world.turn(mode, next).await;
        assert_eq!(next.repairs(), [("lone_reasoning", "deleted_upstream")]);
        assert!(!world.stored_items(&conversation).contains(&"reasoning".to_owned()));
        assert_eq!(world.provider.refusals(), []);
    }
}

#[tokio::test]
async fn unstored_reasoning_is_left_out() {
    let world = World::new().await;
    world.provider.set_on_abort(OnAbort::StoreNothing);
    let conversation = world.conversation().await;
    let orphan = leave_in_reasoning(&world, json!({"conversation": conversation})).await;
    let replay = json!([user("Echo hi."), orphan, user("Please.")]);
    let replay = json!({"conversation": conversation, "input": replay});
    world.turn(Mode::Whole, replay).await;
    assert_eq!(world.sent(), ["user: Echo hi.", "user: Please."]);
}

/// Disconnects from a turn when its reasoning is done. Returns the reasoning.
async fn leave_in_reasoning(world: &World, mut body: serde_json::Value) -> serde_json::Value {
    let answer = Answer::new(MODEL).reasoning("Hm.").message("Hello.");
    let frames = answer.frames();
    let is_done = |frame: &antiphon_mock::Frame| frame.name() == Some("response.output_item.done");
    let until = frames.iter().position(is_done).expect("an item ends") + 1;
    world.provider.script(Script::from(answer).hang_after(until));
    body["input"] = json!([user("Echo hi.")]);
    let mut begun = world.begin(Mode::Streamed, body).await.expect("the turn is accepted");
    begun.events(until).await;
    let done = begun.event("response.output_item.done");
    drop(begun);
    world.wait_until_idle().await;
    done["item"].clone()
}

#[tokio::test]
async fn chain_bypasses_lone_reasoning() {
    let world = World::new().await;
    world.provider.set_on_abort(OnAbort::StorePart);
    world.provider.script(Answer::new(MODEL).message("Hello."));
    let first = world.turn(Mode::Whole, json!({"input": [user("Hi.")]})).await;
    leave_in_reasoning(&world, json!({"previous_response_id": first.id()})).await;
    let left = world.provider.response_ids().into_iter().find(|id| id != first.id()).unwrap();

    let next = json!({"previous_response_id": left, "input": [user("Never mind.")]});
    let next = world.turn(Mode::Whole, next).await;
    assert_eq!(next.repairs(), [("lone_reasoning", "left_behind")]);
    let given = ["user: Hi.", "assistant: Hello.", "user: Echo hi.", "user: Never mind."];
    assert_eq!(world.given(), given);
    let last = json!({"previous_response_id": next.id(), "input": [user("Bye.")]});
    world.turn(Mode::Whole, last).await;
    assert_eq!(world.provider.refusals(), []);
}
