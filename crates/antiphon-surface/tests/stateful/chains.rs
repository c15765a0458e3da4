//! Chains of responses and their branches.

use antiphon_mock::{Answer, InputItems, Options};
use serde_json::{Value, json};

use crate::world::{MODEL, MODES, Mode, World, output, thinking_and_calling, user};

fn message(text: &str) -> Answer {
    Answer::new(MODEL).message(text)
}

#[tokio::test]
async fn replay_after_response_sends_new_items_only() {
    for mode in MODES {
        let world = World::new().await;
        world.provider.script(thinking_and_calling());
        let first = world.turn(mode, json!({"input": [user("Echo hi.")]})).await;
        let mut history = vec![user("Echo hi.")];
        history.extend(first.output());
        history.push(output("call_1", "hi"));
        world.provider.script(message("It says hi."));
        let second = json!({"previous_response_id": first.id(), "input": history});
        let second = world.turn(mode, second).await;
        assert_eq!(world.sent(), ["output: hi"]);
        history.extend(second.output());
        history.push(user("Thanks."));
        let third = json!({"previous_response_id": second.id(), "input": history});
        world.turn(mode, third).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(world.list_requests(), 0);
    }
}

#[tokio::test]
async fn fork_from_older_response_is_a_separate_turn() {
    let world = World::new().await;
    world.provider.script(message("Hello."));
    let first = world.turn(Mode::Whole, json!({"input": [user("Hi.")]})).await;
    let behind = |input: Value| json!({"previous_response_id": first.id(), "input": input});
    world.provider.script(thinking_and_calling());
    let asked = json!([{"role": "user", "content": "Echo hi."}]);
    let call = world.turn(Mode::Streamed, behind(asked)).await.output().pop().unwrap();
    let call = json!({"type": "function_call", "call_id": call["call_id"], "name": "echo",
                      "arguments": call["arguments"]});
    // A tool loop that continues the older response.
    let again = json!([{"role": "user", "content": "Echo hi."}, call, output("call_1", "hi")]);
    world.provider.script(message("It says hi."));
    let last = world.turn(Mode::Streamed, behind(again)).await;
    assert_eq!(last.report.resent, 0);
    let sent = ["user: Echo hi.", r#"call echo {"text":"hi"}"#, "output: hi"];
    assert_eq!(world.sent(), sent);

    let replay = json!([user("Hi."), user("Bye.")]);
    world.turn(Mode::Whole, behind(replay)).await;
    assert_eq!(world.given(), ["user: Hi.", "assistant: Hello.", "user: Bye."]);
}

#[tokio::test]
async fn open_call_is_answered_in_each_branch() {
    let world = World::new().await;
    world.provider.script(thinking_and_calling());
    let first = world.turn(Mode::Whole, json!({"input": [user("Echo hi.")]})).await;
    for text in ["Never mind.", "Stop."] {
        let next = json!({"previous_response_id": first.id(), "input": text});
        let next = world.turn(Mode::Whole, next).await;
        assert_eq!(next.repairs(), [("unanswered_call", "answered")]);
    }
    let late = json!([output("call_1", "hi")]);
    let late = json!({"previous_response_id": first.id(), "input": late});
    assert_eq!(world.turn(Mode::Whole, late).await.repairs(), []);
}

#[tokio::test]
async fn late_output_is_sent_as_message() {
    let world = World::new().await;
    world.provider.script(thinking_and_calling());
    let first = world.turn(Mode::Whole, json!({"input": [user("Echo hi.")]})).await;
    let next = json!({"previous_response_id": first.id(), "input": "Never mind."});
    let next = world.turn(Mode::Whole, next).await;
    let late = json!([output("call_1", "hi"), user("There it is.")]);
    let late = json!({"previous_response_id": next.id(), "input": late});
    let late = world.turn(Mode::Whole, late).await;
    assert_eq!(late.repairs(), [("late_output", "told")]);
}

#[tokio::test]
async fn unknown_chain_is_listed() {
    for listed in [InputItems::Own, InputItems::All] {
        let options = Options { input_items: listed, ..Options::default() };
        let mut world = World::with(options).await;
        let mut history = Vec::new();
        let mut last = Value::Null;
        for (says, answer) in [("One.", message("First.")), ("Echo hi.", thinking_and_calling())] {
            world.provider.script(answer);
            history.push(user(says));
            let body = json!({"previous_response_id": last, "input": [user(says)]});
            let answered = world.turn(Mode::Whole, body).await;
            history.extend(answered.output());
            last = answered.id().into();
        }
        world.forget();
        history.push(output("call_1", "hi"));
        let body = json!({"previous_response_id": last, "input": history});
        let next = world.turn(Mode::Whole, body).await;
        assert_eq!(world.sent(), ["output: hi"], "{listed:?}");
        let asked = world.list_requests();
        history.extend(next.output());
        history.push(user("Bye."));
        let body = json!({"previous_response_id": next.id(), "input": history});
        world.turn(Mode::Whole, body).await;
        assert_eq!(world.sent(), ["user: Bye."], "{listed:?}");
        assert_eq!(world.list_requests(), asked);
    }
}

#[tokio::test]
async fn chain_continues_a_conversation_response() {
    for listed in [InputItems::Own, InputItems::All] {
        let options = Options { input_items: listed, ..Options::default() };
        let mut world = World::with(options).await;
        let conversation = world.conversation().await;
        let (mut history, mut last) = (Vec::new(), Value::Null);
        for text in ["One.", "Two."] {
            world.provider.script(message("Well."));
            history.push(user(text));
            let body = json!({"conversation": conversation, "input": [user(text)]});
            let answered = world.turn(Mode::Whole, body).await;
            history.extend(answered.output());
            last = answered.id().into();
        }
        history.push(user("And now?"));
        for _ in 0..2 {
            let body = json!({"previous_response_id": last, "input": history});
            world.turn(Mode::Whole, body).await;
            assert_eq!(world.sent(), ["user: And now?"], "{listed:?}");
            world.forget();
        }
    }
}
