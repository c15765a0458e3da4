//! Turns over a WebSocket, as the specification's acceptance tests take them.

use serde_json::{Value, json};

use crate::support::{Ask, SIM, Socket, World, ask, create};

fn say(input: impl Into<Value>) -> Ask {
    ask(input).model(SIM).field("tools", json!([])).unstored()
}

/// Nothing is known of the response that this turn goes on from.
async fn assert_not_found(socket: &mut Socket, ask: &Ask) {
    socket.send(&create(ask)).await;
    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["code"]), (400, &json!("previous_response_not_found")));
}

#[tokio::test]
async fn create_event_is_answered_with_events() {
    let world = World::new().await;
    let turn = world.client().socket().await.turn(&say("Count from 1 to 3.")).await;
    assert_eq!(turn.status(), "completed");
    assert_eq!(turn.text(), "1, 2, 3");
}

#[tokio::test]
async fn connection_serves_several_turns() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for word in ["first", "second"] {
        let turn = socket.turn(&say(format!("Reply with exactly: {word}"))).await;
        assert_eq!(turn.text(), word);
    }
}

#[tokio::test]
async fn unstored_response_is_continued_with_new_input() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let received = socket.turn(&say("The password is cobalt. Reply with OK.")).await;
    assert_eq!(received.text(), "OK");
    let recalled = socket.turn(&say("What is the password?").after(received.id())).await;
    assert!(recalled.text().contains("cobalt"), "{}", recalled.text());
}

#[tokio::test]
async fn other_connection_does_not_know_the_response() {
    let world = World::new().await;
    let client = world.client();
    let received = client.socket().await.turn(&say("The password is copper.")).await;
    let mut socket = client.socket().await;
    assert_not_found(&mut socket, &say("Go on.").after(received.id())).await;
    let turn = socket.turn(&say("Reply with exactly: recovered")).await;
    assert_eq!(turn.text(), "recovered");
}

#[tokio::test]
async fn unknown_previous_response_is_not_found() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    assert_not_found(&mut socket, &say("Go on.").after("resp_missing")).await;
}

#[tokio::test]
async fn failed_turn_forgets_the_continued_response() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let received = socket.turn(&say("The password is ember.")).await;
    let wrong = json!([{
        "type": "function_call_output", "call_id": "call_missing", "output": "Nobody called.",
    }]);
    socket.send(&create(&say(wrong).after(received.id()))).await;
    socket.error().await;
    assert_not_found(&mut socket, &say("Go on.").after(received.id())).await;
}

#[tokio::test]
async fn compacted_history_starts_a_chain() {
    let world = World::new().await;
    let client = world.client();
    let history = json!([
        {"type": "message", "role": "user", "content": "The password is slate."},
        {"type": "message", "role": "assistant", "content": "OK."},
        {"type": "message", "role": "user", "content": "Compress this for later."},
    ]);
    let asked = json!({"model": SIM, "input": history});
    let compacted = client.post("/v1/responses/compact", &asked).await.json();
    let mut input = compacted["output"].as_array().unwrap().clone();
    input.push(json!({
        "type": "message", "role": "user", "content": "Go on. Reply with exactly: compacted",
    }));

    let turn = client.socket().await.turn(&say(input)).await;

    assert_eq!(turn.text(), "compacted");
}
