//! Histories that clients resend in addition to the provider's state.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use crate::world::{MODEL, Mode, World, output, thinking_and_calling, user};

fn assistant(text: &str) -> Value {
    json!({"type": "message", "role": "assistant",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

async fn say(world: &World, conversation: &str, input: Value, answer: Answer) -> Vec<Value> {
    world.provider.script(answer);
    let body = json!({"conversation": conversation, "input": input});
    world.turn(Mode::Streamed, body).await.output()
}

fn message(text: &str) -> Answer {
    Answer::new(MODEL).message(text)
}

#[tokio::test]
async fn checkpointer_replay_with_ids_is_recognized() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let answer = Answer::new(MODEL).reasoning("A greeting.").message("Hello.");
    let mut history = vec![user("Hi.")];
    history.extend(say(&world, &conversation, json!(history), answer).await);
    history.push(user("And now?"));
    say(&world, &conversation, json!(history), message("Well.")).await;
    assert_eq!(world.sent(), ["user: And now?"]);
}

#[tokio::test]
async fn history_without_ids_and_calls_is_recognized() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    say(&world, &conversation, json!([user("Echo hi.")]), thinking_and_calling()).await;
    say(&world, &conversation, json!([output("call_1", "hi")]), message("It says hi.")).await;
    let history = json!([
        user("Echo hi."),
        output("call_1", "hi"),
        assistant("It says hi."),
        user("Thanks."),
    ]);
    say(&world, &conversation, history, message("You are welcome.")).await;
    assert_eq!(world.sent(), ["user: Thanks."]);
}

#[tokio::test]
async fn tool_loop_may_resend_its_user_message() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let first = json!([{"role": "user", "content": "Echo hi."}]);
    say(&world, &conversation, first, thinking_and_calling()).await;
    let again = json!([{"role": "user", "content": "Echo hi."}, output("call_1", "hi")]);
    say(&world, &conversation, again, message("It says hi.")).await;
    assert_eq!(world.sent(), ["output: hi"]);

    let all = json!([
        {"role": "user", "content": "Echo hi."}, output("call_1", "hi"),
        {"role": "user", "content": "Thanks."},
    ]);
    say(&world, &conversation, all, message("You are welcome.")).await;
    assert_eq!(world.sent(), ["user: Thanks."]);
}

#[tokio::test]
async fn adjacent_user_messages_are_kept() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let users = ["One.", "Two.", "Three."].map(user);
    for (at, answer) in ["First.", "Second.", "Third."].into_iter().enumerate() {
        say(&world, &conversation, json!(users[..=at]), message(answer)).await;
        assert_eq!(world.sent().len(), 1);
    }
}

#[tokio::test]
async fn reference_within_a_chain_is_kept() {
    let world = World::new().await;
    world.provider.script(Answer::new(MODEL).message("Hello."));
    let first = world.turn(Mode::Whole, json!({"input": [user("Hi.")]})).await;
    let reply = first.output()[0]["id"].clone();
    let replay = json!([user("Hi."), {"type": "item_reference", "id": reply}, user("And now?")]);
    let next = json!({"previous_response_id": first.id(), "input": replay});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.sent(), ["user: And now?"]);
}

#[tokio::test]
async fn full_replay_is_repaired_only_if_needed() {
    let world = World::new().await;
    let whole = json!({"store": false, "input": [user("Hi."), assistant("Hello."), user("So?")]});
    world.turn(Mode::Whole, whole).await;
    assert_eq!(world.sent(), ["user: Hi.", "assistant: Hello.", "user: So?"]);

    let call = json!({"type": "function_call", "call_id": "call_9", "name": "echo",
                      "arguments": "{}"});
    let torn = json!({"input": [user("Hi."), call, user("Never mind.")]});
    let mended = world.turn(Mode::Whole, torn).await;
    assert_eq!(mended.repairs(), [("unanswered_call", "answered")]);
    assert_eq!(mended.report.headers()[1], ("antiphon-repairs", "unanswered_call=1".to_owned()));
    let next = json!({"previous_response_id": mended.id(), "input": [user("And now?")]});
    world.turn(Mode::Whole, next).await;
    assert_eq!(world.sent(), ["user: And now?"]);
}
