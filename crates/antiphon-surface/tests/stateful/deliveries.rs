//! Outputs that are posted to a conversation without a turn.

use serde_json::json;

use crate::world::{Mode, World, output, thinking_and_calling, user};

async fn with_open_call(world: &World) -> String {
    let conversation = world.conversation().await;
    world.provider.script(thinking_and_calling());
    let asked = json!({"conversation": conversation, "input": [user("Echo hi.")]});
    world.turn(Mode::Whole, asked).await;
    conversation
}

#[tokio::test]
async fn output_of_open_call_is_posted_once() {
    let mut world = World::new().await;
    let conversation = with_open_call(&world).await;
    let posted = world.deliver(&conversation, &[output("call_1", "hi")]).await.unwrap();
    assert_eq!(posted.status, 200);
    assert!(world.deliver(&conversation, &[output("call_1", "hi")]).await.is_none());
    assert_eq!(world.list_requests(), 1);
    world.forget();
    assert!(world.deliver(&conversation, &[output("call_1", "hi")]).await.is_none());
    let next = json!({"conversation": conversation, "input": [user("Bye.")]});
    let next = world.turn(Mode::Whole, next).await;
    assert_eq!(next.repairs(), []);
    assert_eq!(world.stored_items(&conversation)[3], "output: hi");
}

#[tokio::test]
async fn output_of_unknown_call_is_not_posted() {
    let world = World::new().await;
    let conversation = with_open_call(&world).await;
    assert!(world.deliver(&conversation, &[output("call_2", "hi")]).await.is_none());
    let both = [output("call_2", "ho"), output("call_1", "hi")];
    let posted = world.deliver(&conversation, &both).await.unwrap();
    assert_eq!(posted.repairs(), [("output_without_call", "dropped")]);
    assert_eq!(world.stored_items(&conversation).last().unwrap(), "output: hi");
}

#[tokio::test]
async fn late_output_replaces_the_placeholder() {
    let world = World::new().await;
    let conversation = with_open_call(&world).await;
    let next = json!({"conversation": conversation, "input": [user("Never mind.")]});
    world.turn(Mode::Whole, next).await;
    let late = world.deliver(&conversation, &[output("call_1", "hi")]).await.unwrap();
    assert_eq!(late.repairs(), [("late_output", "deleted_upstream"), ("late_output", "replaces")]);
    let bye = json!({"conversation": conversation, "input": [user("Bye.")]});
    assert_eq!(world.turn(Mode::Whole, bye).await.repairs(), []);
    assert_eq!(world.provider.refusals(), []);
}
