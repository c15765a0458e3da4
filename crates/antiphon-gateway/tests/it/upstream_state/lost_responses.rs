//! The provider has lost the response that a chain continues.

use antiphon_gateway::settings::Ledger;
use antiphon_mock::{Answer, OnAbort, Script};
use serde_json::{Value, json};

use super::world::World;
use crate::support::{Ask, MODEL, MODES, Mode, ask, output, reference, typed_user};

/// The call of an aborted turn, as the provider receives it.
const CALL: &str = r#"call echo {"text":"hi"}"#;

async fn with_bodies() -> World {
    World::with(|settings| settings.ledger = Ledger::Bodies).await
}

#[tokio::test]
async fn ledger_with_bodies_is_sent_in_full() {
    for mode in MODES {
        let world = with_bodies().await;
        let client = world.client();
        let thinking =
            Answer::new(MODEL).reasoning("Hm.").call("call_1", "echo", r#"{"text":"hi"}"#);
        world.provider.script(thinking);
        let first = client.turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let received = ask([output(&json!("call_1"), "hi")]).after(first.id());
        let second = client.turn(mode, &received).await;
        world.provider.delete_response(first.id());
        world.provider.delete_response(second.id());

        let asked = ask([typed_user("What is my dog?")]).after(second.id());
        let third = client.turn(mode, &asked).await;

        assert_eq!(third.text(), "Rex");
        let turn = world.last_turn();
        assert_eq!(turn.body["previous_response_id"], Value::Null);
        let call = r#"call echo {"text":"hi"}"#;
        let message = [
            "user: My dog is Rex.",
            call,
            "output: hi",
            "assistant: echo said: hi",
            "user: What is my dog?",
        ];
        assert_eq!(world.sent(), message);
        assert_eq!(third.header("antiphon-replayed"), Some("4"));

        let fourth = client.turn(mode, &ask([typed_user("Sure?")]).after(third.id())).await;
        assert_eq!(world.sent(), ["user: Sure?"]);
        assert_eq!(fourth.header("antiphon-replayed"), None);
    }
}

#[tokio::test]
async fn unanswered_calls_get_placeholders_in_the_replay() {
    for mode in MODES {
        let world = with_bodies().await;
        let client = world.client();
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let first = client.turn(mode, &ask([typed_user("Echo hi.")])).await;
        world.provider.delete_response(first.id());
        let second = client.turn(mode, &ask([typed_user("Well?")]).after(first.id())).await;
        let silence = "output: No output was recorded for this call.";
        let call = r#"call echo {"text":"hi"}"#;
        assert_eq!(world.sent(), ["user: Echo hi.", call, silence, "user: Well?"]);
        client.turn(mode, &ask([typed_user("Thanks.")]).after(second.id())).await;
        assert_eq!(world.sent(), ["user: Thanks."]);
    }
}

#[tokio::test]
async fn approval_of_an_unknown_request_is_sent_after_the_replay() {
    for mode in MODES {
        let world = with_bodies().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("Hello.")])).await;
        world.provider.delete_response(first.id());

        let approval = json!({
            "type": "mcp_approval_response", "approval_request_id": "mcpr_9", "approve": true,
        });
        let next = client.turn(mode, &ask([approval.clone()]).after(first.id())).await;

        assert_eq!(next.header("antiphon-replayed"), Some("2"));
        assert_eq!(next.header("antiphon-repairs"), None);
        assert_eq!(world.last_turn().input().last(), Some(&approval));
    }
}

#[tokio::test]
async fn output_of_a_referenced_call_is_sent_after_the_replay() {
    for mode in MODES {
        let world = with_bodies().await;
        let client = world.client();
        let first = client.turn(mode, &ask([typed_user("Hello.")])).await;
        world.provider.delete_response(first.id());
        world.provider.script(Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#));
        let elsewhere = world.past_gateway().respond(&ask([typed_user("Echo hi.")])).await;

        let call = &elsewhere.item("function_call")["id"];
        let received = [reference(call), output(elsewhere.call_id(), "hi")];
        let next = client.turn(mode, &ask(received.clone()).after(first.id())).await;

        assert_eq!(next.header("antiphon-repairs"), None);
        assert_eq!(world.last_turn().input()[2..], received);
    }
}

#[tokio::test]
async fn lost_response_is_continued_from_the_ledger() {
    for mode in MODES {
        let world = with_bodies().await;
        let id = abort_after_call(&world, &ask([typed_user("Echo hi.")])).await;

        let received = ask([output(&json!("call_1"), "hi")]).after(&id);
        world.client().turn(mode, &received).await;
        assert_eq!(world.sent(), ["user: Echo hi.", r#"call echo {"text":"hi"}"#, "output: hi"]);
    }
}

/// A stream whose client disconnects after a call, at a provider that then stores nothing of it.
/// Returns the response's id.
async fn abort_after_call(world: &World, body: &Ask) -> String {
    world.provider.set_on_abort(OnAbort::StoreNothing);
    let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
    world.abort_at("response.output_item.done", answer, body).await
}

#[tokio::test]
async fn aborted_first_turn_is_sent_again_from_its_copy() {
    for mode in MODES {
        let world = World::new().await;
        let lost = abort_after_call(&world, &ask([typed_user("Echo hi.")])).await;

        let received = ask([output(&json!("call_1"), "hi")]).after(&lost);
        let second = world.client().turn(mode, &received).await;

        assert_eq!(world.sent(), ["user: Echo hi.", CALL, "output: hi"]);
        assert_eq!(world.last_turn().body["previous_response_id"], Value::Null);
        assert_eq!(second.header("antiphon-replayed"), Some("2"));

        let third = world.client().turn(mode, &ask([typed_user("Sure?")]).after(second.id())).await;
        assert_eq!(world.sent(), ["user: Sure?"]);
        assert_eq!(third.header("antiphon-replayed"), None);
    }
}

#[tokio::test]
async fn turn_after_an_aborted_one_continues_the_last_response_of_the_provider() {
    for mode in MODES {
        let world = World::new().await;
        let first = world.client().turn(mode, &ask([typed_user("My dog is Rex.")])).await;
        let asked = ask([typed_user("Echo hi.")]).after(first.id());
        let lost = abort_after_call(&world, &asked).await;

        let received = ask([output(&json!("call_1"), "hi")]).after(&lost);
        world.client().turn(mode, &received).await;

        assert_eq!(world.sent(), ["user: Echo hi.", CALL, "output: hi"]);
        assert_eq!(world.last_turn().body["previous_response_id"], first.id());
        assert_eq!(world.given()[0], "user: My dog is Rex.");
    }
}

#[tokio::test]
async fn turn_aborted_within_a_call_is_continued_without_it() {
    let world = World::new().await;
    world.provider.set_on_abort(OnAbort::StoreNothing);
    let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hi"}"#);
    let asked = ask([typed_user("My dog is Rex.")]);
    let id = world.abort_at("response.function_call_arguments.delta", answer, &asked).await;

    let asked = ask([typed_user("What is my dog?")]).after(&id);
    let next = world.client().turn(Mode::Streamed, &asked).await;

    assert_eq!(next.text(), "Rex");
    assert_eq!(world.sent(), ["user: My dog is Rex.", "user: What is my dog?"]);
}

#[tokio::test]
async fn several_aborted_turns_in_a_row_are_sent_again() {
    let world = World::new().await;
    let first = world.client().turn(Mode::Streamed, &ask([typed_user("My dog is Rex.")])).await;
    let lost = abort_after_call(&world, &ask([typed_user("Echo hi.")]).after(first.id())).await;
    let again = ask([output(&json!("call_1"), "hi"), typed_user("Again.")]).after(&lost);
    let lost = abort_after_call(&world, &again).await;

    let asked = ask([typed_user("What is my dog?")]).after(&lost);
    let last = world.client().turn(Mode::Streamed, &asked).await;

    assert_eq!(last.text(), "Rex");
    assert_eq!(world.last_turn().body["previous_response_id"], first.id());
    assert_eq!(world.sent()[..4], ["user: Echo hi.", CALL, "output: hi", "user: Again."]);
}

#[tokio::test]
async fn turn_is_continued_from_its_copy_after_a_crash() {
    let mut world = World::new().await;
    world.provider.set_on_abort(OnAbort::StoreNothing);
    let answer = Answer::new(MODEL).message("Hello!");
    let exchange = world.provider.script(Script::from(answer).hang_after(2));
    let mut events = world.client().stream(&ask([typed_user("My dog is Rex.")])).await;
    let id = events.response_id().await;
    world.kill_and_start().await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;

    let asked = ask([typed_user("What is my dog?")]).after(&id);
    let next = world.client().turn(Mode::Streamed, &asked).await;

    assert_eq!(next.text(), "Rex");
    assert_eq!(world.sent(), ["user: My dog is Rex.", "user: What is my dog?"]);
}

#[tokio::test]
async fn copy_is_encrypted() {
    let world = World::new().await;
    abort_after_call(&world, &ask([typed_user("My dog is Rex.")])).await;
    let stored = world.stored_bytes().await;
    assert!(!stored.windows(3).any(|bytes| bytes == b"Rex"), "the store has the text");
}

#[tokio::test]
async fn copy_expires() {
    let world = World::new().await;
    let lost = abort_after_call(&world, &ask([typed_user("Echo hi.")])).await;
    world.client().wait_until_recorded(&lost).await;
    world.age_by_days(1).await;

    let received = ask([output(&json!("call_1"), "hi")]).after(&lost);
    let refused = world.client().refused(Mode::Streamed, &received).await;

    assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
}

#[tokio::test]
async fn lost_response_without_bodies_is_the_providers_error() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(Mode::Whole, &ask([typed_user("Hello.")])).await;
        world.provider.delete_response(first.id());
        let asked = ask([typed_user("And so?")]).after(first.id());
        let refused = client.refused(mode, &asked).await;
        assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
    }
}
