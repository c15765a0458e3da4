//! Background turns.

use serde_json::{Value, json};

use crate::world::{Mode, World, user};

/// A background turn that is polled until its end.
async fn taken(world: &World, body: Value) -> Value {
    let queued = world.turn(Mode::Whole, body).await;
    assert!(
        ["queued", "in_progress"].contains(&queued.body["status"].as_str().unwrap_or_default())
    );
    world.over(queued.id()).await
}

#[tokio::test]
async fn same_text_in_a_later_turn_is_new() {
    let mut world = World::new().await;
    world.repeats = true;
    let conversation = world.conversation().await;
    for times in 1..=3 {
        let input = json!([user("Go on.")]);
        let body = json!({"conversation": conversation, "background": true, "input": input});
        taken(&world, body).await;
        let held = world.stored_items(&conversation);
        assert_eq!(held.iter().filter(|line| *line == "user: Go on.").count(), times, "{held:?}");
    }
}

#[tokio::test]
async fn background_response_can_be_continued() {
    let world = World::new().await;
    let first = taken(&world, json!({"background": true, "input": [user("Hi.")]})).await;
    let mut history = vec![user("Hi.")];
    history.extend(first["output"].as_array().unwrap().clone());
    history.push(user("And now?"));
    let next = json!({"previous_response_id": first["id"], "input": history});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.sent(), ["user: And now?"]);
}
