//! Several processes that serve one conversation without sharing their ledgers.

use antiphon::FingerprintKey;
use antiphon::stateful::StatefulClient;
use antiphon_mock::Answer;
use serde_json::{Value, json};

use crate::world::{MODEL, Mode, World, output, thinking_and_calling, user};

/// A turn in another process than the last one.
async fn turn_elsewhere(world: &mut World, other: &mut StatefulClient, body: Value) {
    std::mem::swap(&mut world.client, other);
    world.turn(Mode::Whole, body).await;
}

fn another() -> StatefulClient {
    StatefulClient::new(FingerprintKey::new([8; 16]))
}

fn assistant(text: &str) -> Value {
    json!({"type": "message", "role": "assistant",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

#[tokio::test]
async fn replay_of_user_messages_stores_nothing_twice() {
    let (mut world, mut other) = (World::new().await, another());
    let conversation = world.conversation().await;
    let users = ["One.", "Two.", "Three.", "Four.", "Five."];
    let mut held = Vec::new();
    for at in 0..users.len() {
        world.provider.script(Answer::new(MODEL).message("Well."));
        let reply: Vec<Value> = users[..=at].iter().map(|text| user(text)).collect();
        let body = json!({"conversation": conversation, "input": reply});
        turn_elsewhere(&mut world, &mut other, body).await;
        held.extend([format!("user: {}", users[at]), "assistant: Well.".to_owned()]);
    }
    world.repeats = true;
    assert_eq!(world.stored_items(&conversation), held);
}

#[tokio::test]
async fn replay_without_ids_stores_nothing_twice() {
    let (mut world, mut other) = (World::new().await, another());
    let conversation = world.conversation().await;
    let (mut reply, mut held) = (Vec::new(), Vec::new());
    for at in 0..5 {
        let (asks, answers) = (format!("Question {at}."), format!("Answer {at}."));
        world.provider.script(Answer::new(MODEL).message(&answers));
        reply.push(user(&asks));
        let body = json!({"conversation": conversation, "input": reply});
        turn_elsewhere(&mut world, &mut other, body).await;
        reply.push(assistant(&answers));
        held.extend([format!("user: {asks}"), format!("assistant: {answers}")]);
    }
    assert_eq!(world.stored_items(&conversation), held);
}

#[tokio::test]
async fn output_of_another_process_is_not_resent() {
    let (mut world, mut other) = (World::new().await, another());
    let conversation = world.conversation().await;
    let mut reply = vec![user("Echo hi.")];
    let body = |reply: &[Value]| json!({"conversation": conversation, "input": reply});
    world.provider.script(thinking_and_calling());
    turn_elsewhere(&mut world, &mut other, body(&reply)).await;
    reply.push(output("call_1", "hi"));
    world.provider.script(Answer::new(MODEL).message("It says hi."));
    turn_elsewhere(&mut world, &mut other, body(&reply)).await;
    reply.push(user("Thanks."));
    turn_elsewhere(&mut world, &mut other, body(&reply)).await;
    assert_eq!(world.sent(), ["user: Thanks."]);
    let held = [
        "user: Echo hi.",
        "reasoning",
        r#"call echo {"text":"hi"}"#,
        "output: hi",
        "assistant: It says hi.",
        "user: Thanks.",
        "assistant: Noted.",
    ];
    assert_eq!(world.stored_items(&conversation), held);
    assert_eq!(world.provider.refusals(), []);
}
