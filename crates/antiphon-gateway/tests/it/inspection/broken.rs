//! Broken conversations: each view names the fault, the item and the provider's error.

use antiphon_gateway::inspect::model::{Card, ConversationState, Fate, TurnView};
use antiphon_mock::{Answer, Reply, encrypted_content};
use serde_json::{Value, json};

use super::Store;
use crate::support::{MODEL, Mode, World, ask, call, frames_until, output, text, typed_user};

/// The view of a turn that was given this history.
async fn turn_of(history: Value) -> (World, TurnView) {
    let world = World::new().await;
    let turn = world.client().respond(&ask(history)).await;
    let view = Store::read(&world).await.turn(turn.id()).await;
    (world, view)
}

/// The cards of a lane with a fate other than new or known.
fn treated(cards: &[Card]) -> Vec<(&Card, &Fate)> {
    let fates = cards.iter().flat_map(|card| card.fates.iter().map(move |fate| (card, fate)));
    fates.filter(|(_, fate)| !matches!(fate, Fate::New | Fate::Known { .. })).collect()
}

#[tokio::test]
async fn duplicate_item_is_shown_as_left_out() {
    let reply = json!({
        "type": "message", "id": "msg_1", "role": "assistant",
        "content": [{"type": "output_text", "text": "Noted.", "annotations": []}],
    });
    let history = json!([typed_user("Hello"), reply, reply, typed_user("Hello")]);
    let (_world, turn) = turn_of(history).await;
    let [(card, fate)] = &treated(&turn.received.cards)[..] else { panic!("{:?}", turn.received) };
    let message = "Duplicate item found with id msg_1. Remove duplicate items from your input and \
                   try again.";
    assert_eq!((card.position, card.id.as_deref()), (Some(2), Some("msg_1")));
    let expected = ("duplicate_item".into(), message.into());
    assert_eq!(**fate, Fate::LeftOut { fault: expected.0, message: expected.1 });
    assert_eq!((turn.received.items, turn.sent.items), (4, 3));
}

#[tokio::test]
async fn missing_output_is_shown_as_placeholder() {
    let history = json!([typed_user("Echo hello"), call("call_1", "hello"), typed_user("Go on")]);
    let (world, turn) = turn_of(history).await;
    let message = "No tool output found for function call call_1.";
    let placeholders = turn.sent.cards.iter().filter(|card| card.kind == "function_call_output");
    let [placeholder] = &placeholders.collect::<Vec<_>>()[..] else { panic!("{:?}", turn.sent) };
    assert_eq!(placeholder.call_id.as_deref(), Some("call_1"));
    let expected = Fate::Placeholder { fault: "unanswered_call".into(), message: message.into() };
    assert_eq!(placeholder.fates, [expected]);
    assert_eq!((turn.sent.items, turn.sent.exact), (4, true));
    let call = &turn.received.cards[1];
    assert!(matches!(&call.fates[1], Fate::Repaired { action, .. } if action == "answered"));

    let summary = Store::read(&world).await.view(&turn.id).await.summary;
    let ConversationState::Poisoned { fault, item, message: error } = summary.state else {
        panic!("{:?}", summary.state)
    };
    assert_eq!((&*fault, &*error, item), ("unanswered_call", message, call.key.clone()));
    let last = summary.last_repaired.expect("the turn was repaired");
    assert_eq!((summary.repaired_turns, &*last.response), (1, &*turn.id));
    assert_eq!(last.faults["unanswered_call"], 1);
}

#[tokio::test]
async fn lone_reasoning_is_shown_as_left_out() {
    let content = encrypted_content(MODEL, "rs_lone");
    let lone = json!({
        "type": "reasoning", "id": "rs_lone", "summary": [], "encrypted_content": content,
    });
    let (world, turn) = turn_of(json!([typed_user("Hello"), lone, typed_user("Hello")])).await;
    let message = "Item 'rs_lone' of type 'reasoning' was provided without its required following \
                   item.";
    let [(card, fate)] = &treated(&turn.received.cards)[..] else { panic!("{:?}", turn.received) };
    assert_eq!(card.id.as_deref(), Some("rs_lone"));
    let expected = Fate::LeftOut { fault: "lone_reasoning".into(), message: message.into() };
    assert_eq!(**fate, expected);
    assert_eq!(turn.sent.items, 2);
    let state = Store::read(&world).await.view(&turn.id).await.summary.state;
    let poisoned = ConversationState::Poisoned {
        fault: "lone_reasoning".into(),
        item: "rs_lone".into(),
        message: message.into(),
    };
    assert_eq!(state, poisoned);
}

#[tokio::test]
async fn orphan_output_is_shown_as_left_out() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let orphan = output(&json!("call_9"), "hello");
    let stored = client.add_items(&conversation, &[typed_user("Hello"), orphan]).await;
    let message = "No tool call found for function call output with call_id call_9.";

    let next = client.respond(&ask("Go on").within(&conversation)).await;

    let view = Store::read(&world).await.view(&conversation).await;
    let poisoned = ConversationState::Poisoned {
        fault: "output_without_call".into(),
        item: text(&stored[1]["id"]).to_owned(),
        message: message.into(),
    };
    assert_eq!((view.summary.state, &*view.turns[0].id), (poisoned, next.id()));
    let treated = treated(&view.turns[0].stored_before.cards);
    let [(card, fate)] = &treated[..] else { panic!("{treated:?}") };
    assert_eq!(&*card.key, text(&stored[1]["id"]));
    let expected = Fate::LeftOut { fault: "output_without_call".into(), message: message.into() };
    assert_eq!((*fate, view.turns[0].sent.items), (&expected, 2));
}

/// An old output of a history whose call the gateway does not know is not stored.
#[tokio::test]
async fn unstored_output_is_shown_where_it_was_received() {
    let orphan = output(&json!("call_9"), "hello");
    let (_world, turn) = turn_of(json!([typed_user("Hello"), orphan, typed_user("Hello")])).await;
    let [(card, fate)] = &treated(&turn.received.cards)[..] else { panic!("{:?}", turn.received) };
    assert_eq!((card.position, &*card.kind), (Some(1), "function_call_output"));
    assert!(matches!(fate, Fate::LeftOut { fault, .. } if fault == "output_without_call"));
    assert_eq!((turn.received.items, turn.sent.items), (3, 2));
}

/// Another client stored what it had of a call when its stream ended.
#[tokio::test]
async fn half_call_of_an_aborted_stream_is_shown() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut half = call("call_1", "hello");
    half["arguments"] = r#"{"text":"hel"#.into();
    half["status"] = "incomplete".into();
    let stored = client.add_items(&conversation, &[typed_user("Echo hello"), half]).await;
    let message = "No tool output found for function call call_1.";
    let poisoned = ConversationState::Poisoned {
        fault: "unanswered_call".into(),
        item: text(&stored[1]["id"]).to_owned(),
        message: message.into(),
    };
    let summary = Store::read(&world).await.view(&conversation).await.summary;
    assert_eq!(summary.state, poisoned);

    let next = client.respond(&ask("Go on").within(&conversation)).await;

    let view = Store::read(&world).await.view(&conversation).await;
    assert_eq!(view.summary.state, poisoned);
    assert_eq!((view.turns.len(), &*view.turns[0].id), (1, next.id()));
    let treated = treated(&view.turns[0].stored_before.cards);
    let [(card, fate)] = &treated[..] else { panic!("{treated:?}") };
    assert_eq!(&*card.key, text(&stored[1]["id"]));
    let expected = Fate::LeftOut { fault: "unanswered_call".into(), message: message.into() };
    assert_eq!((*fate, view.turns[0].sent.items), (&expected, 2));
}

/// The gateway itself stores no half call.
#[tokio::test]
async fn broken_stream_is_shown_as_failed() {
    let world = World::new().await;
    let client = world.client();
    let answer = Answer::new(MODEL).call("call_1", "echo", r#"{"text":"hello"}"#);
    let half = frames_until(&answer, "response.function_call_arguments.delta");
    world.script(Reply::sse(answer.frames()).break_after(half));
    let cut = client.turn(Mode::Streamed, &ask("Echo hello")).await;

    let view = Store::read(&world).await.turn(cut.id()).await;
    assert_eq!((&*view.status, view.returned.items), (cut.status(), 0));
    assert!(view.error.is_some_and(|error| !error.message.is_empty()));
}
