//! What the provider holds is not what the ledger says: it refuses the turn, is asked what it has,
//! and is sent the turn once more.

use antiphon_mock::{Answer, Options, Refusal, Reply, Rules, StrictProvider};
use serde_json::{Value, json};

use super::world::World;
use crate::support::{
    MODEL, MODES, Mode, ask, assistant_again, call, output, reference, typed_user,
};

const SILENCE: &str = "output: No output was recorded for this call.";

/// Somebody puts a call into a conversation, past the gateway.
async fn call_from_elsewhere(world: &World, conversation: &str) {
    world.past_gateway().add_items(conversation, &[call("call_1", "hi")]).await;
}

#[tokio::test]
async fn foreign_call_is_synced_and_answered() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        client.turn(mode, &ask([typed_user("Hello.")]).within(&conversation)).await;
        call_from_elsewhere(&world, &conversation).await;

        let next = ask([typed_user("Never mind.")]).within(&conversation);
        let next = client.turn(mode, &next).await;

        assert_eq!(world.sent(), [SILENCE, "user: Never mind."]);
        assert_eq!(world.provider.refusals().len(), 1, "one attempt was refused");
        assert_eq!(next.header("antiphon-relearned"), Some("true"));
        let report = client.report(next.id()).await;
        let refused = "No tool output found for function call call_1.";
        let page = "/faults/unanswered_call";
        let relearned = json!({"fault": "unanswered_call", "message": refused, "page": page});
        assert_eq!(report["relearned"], relearned);
        assert_eq!(report["repairs"][0]["action"], "answered");

        let well = client.turn(mode, &ask([typed_user("Thanks.")]).within(&conversation)).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
        assert_eq!(well.header("antiphon-relearned"), None);
    }
}

#[tokio::test]
async fn foreign_message_is_not_sent_twice() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        client.turn(mode, &ask([typed_user("Hello.")]).within(&conversation)).await;
        let theirs = ask([typed_user("My dog is Rex.")]).within(&conversation);
        let theirs = world.past_gateway().respond(&theirs).await;

        let replay = [assistant_again(theirs.item("message")), typed_user("What is my dog?")];
        let next = client.turn(mode, &ask(replay).within(&conversation)).await;

        assert_eq!(next.text(), "Rex");
        assert_eq!(world.sent(), ["user: What is my dog?"]);
        assert_eq!(world.provider.refusals().len(), 1);
    }
}

#[tokio::test]
async fn rejected_unlisted_item_is_dropped() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        world.provider.script(Reply::refusal(&Refusal::duplicate_item("msg_elsewhere")));
        let mut known = typed_user("Said elsewhere.");
        known["id"] = "msg_elsewhere".into();

        let asked = ask([known, typed_user("Hello.")]).within(&conversation);
        let received = client.turn(mode, &asked).await;

        assert_eq!(world.sent(), ["user: Hello."]);
        let repairs = &client.report(received.id()).await["repairs"];
        assert_eq!(
            (&repairs[0]["fault"], &repairs[0]["position"]),
            (&"duplicate_item".into(), &0.into())
        );
    }
}

#[tokio::test]
async fn missing_reasoning_is_dropped() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        let reasoning = json!({"type": "reasoning", "id": "rs_gone", "summary": []});
        let mut made = call("call_1", "hi");
        made["id"] = "fc_made_with_it".into();
        let replay = [typed_user("Echo hi."), reasoning, made, output(&json!("call_1"), "hi")];

        client.turn(mode, &ask(replay).within(&conversation)).await;

        let call = r#"call echo {"text":"hi"}"#;
        assert_eq!(world.sent(), ["user: Echo hi.", call, "output: hi"]);
        assert_eq!(world.last_turn().input()[1]["id"], Value::Null);
        assert_eq!(world.provider.refusals().len(), 1);
    }
}

#[tokio::test]
async fn unresolvable_reference_is_dropped() {
    for mode in MODES {
        let world = World::new().await;
        let asked = ask([reference(&json!("msg_gone")), typed_user("Hello.")]);
        world.client().turn(mode, &asked).await;
        assert_eq!(world.sent(), ["user: Hello."]);
    }
}

#[tokio::test]
async fn empty_remainder_returns_the_providers_error() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let asked = || ask([reference(&json!("msg_gone"))]);
        for (nth, asked) in [asked().within(&conversation), asked()].iter().enumerate() {
            let refused = world.client().refused(mode, asked).await;
            let message = refused.body["error"]["message"].as_str().expect("it says why");
            assert!(message.starts_with("Item with id 'msg_gone' not found."), "{message}");
            assert_eq!(world.provider.turns().len(), nth + 1);
        }
    }
}

#[tokio::test]
async fn turn_is_sent_at_most_twice() {
    for mode in MODES {
        let world = World::new().await;
        let (client, conversation) = (world.client(), world.conversation().await);
        for id in ["msg_1", "msg_2"] {
            world.provider.script(Reply::refusal(&Refusal::duplicate_item(id)));
        }
        let named = |id: &str| {
            let mut message = typed_user(id);
            message["id"] = id.into();
            message
        };
        let asked = ask([named("msg_1"), named("msg_2"), typed_user("Hi.")]).within(&conversation);

        let refused = client.refused(mode, &asked).await;

        let message = refused.body["error"]["message"].as_str().expect("it says why");
        assert!(message.starts_with("Duplicate item found with id msg_2."), "{message}");
        assert_eq!(world.provider.turns().len(), 2);
        client.turn(mode, &ask([typed_user("Hi.")]).within(&conversation)).await;
        assert_eq!(world.given(), ["user: Hi."]);
    }
}

#[tokio::test]
async fn unchanged_plan_is_not_resent() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.conversation().await;
        let message = "No tool output found for function call call_nobody_knows.";
        let refusal = Refusal::for_input(message.to_owned());
        world.provider.script(Reply::refusal(&refusal));
        let asked = ask([typed_user("Hello.")]).within(&conversation);
        let refused = world.client().refused(mode, &asked).await;
        assert_eq!(refused.body["error"]["message"], message);
        assert_eq!(world.provider.turns().len(), 1);
    }
}

#[tokio::test]
async fn chain_is_resynced_after_a_state_error() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("Hello.")])).await;
        let refusal = Refusal::duplicate_item("msg_1");
        world.provider.script(Reply::refusal(&refusal));
        let mut known = typed_user("Said before.");
        known["id"] = "msg_1".into();

        let next = ask([known, typed_user("And so?")]).after(first.id());
        client.turn(mode, &next).await;
        assert_eq!(world.given(), ["user: Hello.", "assistant: Noted.", "user: And so?"]);
    }
}

/// A response that fails after it has begun, as some servers tell of what they would not take.
fn failing() -> Answer {
    Answer::new(MODEL).failed("server_error", "No tool output found for function call call_1.")
}

#[tokio::test]
async fn unannounced_failed_response_is_retried() {
    let lenient = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(lenient).start().await;
    let world = World::of(provider).await;
    let (client, conversation) = (world.client(), world.conversation().await);
    client.respond(&ask([typed_user("Hello.")]).within(&conversation)).await;
    call_from_elsewhere(&world, &conversation).await;
    world.provider.script(failing());

    let asked = ask([typed_user("Go on.")]).within(&conversation);
    let received = client.turn(Mode::Whole, &asked).await;

    assert_eq!(received.header("antiphon-relearned"), Some("true"));
    assert_eq!(world.sent(), [SILENCE, "user: Go on."]);
}

#[tokio::test]
async fn announced_failure_is_repaired_next_turn() {
    let lenient = Options { rules: Rules::Lenient, ..Options::default() };
    let provider = StrictProvider::with_options(lenient).start().await;
    let world = World::of(provider).await;
    let (client, conversation) = (world.client(), world.conversation().await);
    client.respond(&ask([typed_user("Hello.")]).within(&conversation)).await;
    call_from_elsewhere(&world, &conversation).await;
    world.provider.script(failing());

    let asked = ask([typed_user("Go on.")]).within(&conversation);
    assert_eq!(client.turn(Mode::Streamed, &asked).await.status(), "failed");

    client.turn(Mode::Streamed, &asked).await;
    assert_eq!(world.sent(), [SILENCE, "user: Go on."]);
}
