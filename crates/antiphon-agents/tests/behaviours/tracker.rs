//! The items that a server has, and those that it still has to be sent.

use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon::Item;
use antiphon::tracker::{ReasoningIds, Returned};
use antiphon_agents::machine::End;
use antiphon_agents::{RunEvent, State, user};
use antiphon_mock::{Reply, Script};
use serde_json::json;

use super::world::{CLIENTS, Owner, SERVERS, World, answer, calls, drain, forms, item, says};

/// A conversation whose run looked something up.
async fn after_a_tool_call() -> World {
    let world = World::new().await;
    world.script([calls("c1", "look_up", "Bonn"), says("Found.")]);
    world.run(world.state(Owner::Conversation), "first").await;
    world
}

#[tokio::test]
async fn b01_known_items_are_not_sent_again() {
    let world = after_a_tool_call().await;
    let mut input = world.conversation_items();
    input.push(user("second"));
    world.run(world.state(Owner::Conversation), input).await;
    assert_eq!(world.inputs()[2], ["user: second"]);
    world.assert_clean("");
}

#[tokio::test]
async fn b02_ready_output_of_an_interrupted_turn_is_sent() {
    for owner in SERVERS {
        let world = World::new().await;
        let turn = calls("c1", "look_up", "Bonn").call("c2", "pay", r#"{"city":"Rome"}"#);
        world.script([turn, says("Done.")]);
        let mut run = world.start(world.state(owner), "go");
        drain(&mut run).await;
        let mut run = world.restart(run);
        run.approve("c2").unwrap();
        let result = run.into_result().await.unwrap();
        assert_eq!(result.text(), "Done.", "{owner:?}");
        let outputs = ["function_call_output c1", "function_call_output c2"];
        assert_eq!(world.inputs()[1], outputs, "{owner:?}");
        assert_eq!(world.effects.all(), ["look_up Bonn", "pay Rome"], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b03_failed_request_makes_its_own_items_pending_again() {
    for owner in SERVERS {
        let world = World::new().await;
        world.fail_next_turn(503);
        let requests = AtomicUsize::new(0);
        let first_alone = move |items: Vec<Returned>| match requests.fetch_add(1, Ordering::Relaxed)
        {
            0 | 1 => items.into_iter().take(1).collect(),
            _ => items,
        };
        let run = world.start(world.state(owner), vec![user("a"), user("b")]);
        world.script([calls("c1", "look_up", "Bonn"), says("Done.")]);
        run.filter_input(first_alone).into_result().await.unwrap();
        let second = ["user: b", "function_call_output c1"];
        assert_eq!(world.inputs(), [vec!["user: a"], vec!["user: a"], second.to_vec()]);
        assert_eq!(world.provider.duplicates(), [], "{owner:?}");
    }
}

#[tokio::test]
async fn b04_rebuilt_item_counts_as_its_source() {
    for owner in SERVERS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn"), says("Done.")]);
        let run = world.start(world.state(owner), "go");
        let rebuild = |returned: Returned| {
            let item = Item::parse(returned.item.text().to_owned().into()).unwrap();
            Returned { occurrence: None, item }
        };
        let rebuild_all = move |items: Vec<Returned>| items.into_iter().map(rebuild).collect();
        run.filter_input(rebuild_all).into_result().await.unwrap();
        assert_eq!(world.inputs(), [["user: go"], ["function_call_output c1"]]);
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b05_delivered_output_is_not_sent_twice() {
    for owner in SERVERS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn"), says("Found.")]);
        let result = world.run(world.state(owner), "first").await;
        let output = result.items()[2].clone();
        assert_eq!(forms(std::slice::from_ref(&output)), ["function_call_output c1"]);
        world.run(result.next_state(), vec![output, user("second")]).await;
        assert_eq!(world.inputs()[2], ["user: second"], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b06_response_that_echoes_a_pending_item_has_it() {
    for owner in SERVERS {
        let world = World::new().await;
        let echo = json!({"type": "message", "role": "user", "content": "b"});
        let echoing = answer().item(echo).call("c1", "look_up", r#"{"city":"Bonn"}"#);
        world.script([echoing, says("Done.")]);
        let run = world.start(world.state(owner), vec![user("a"), user("b")]);
        let without_b = |mut items: Vec<Returned>| {
            items.retain(|returned| !returned.item.text().contains(r#""b""#));
            items
        };
        run.filter_input(without_b).into_result().await.unwrap();
        let result = world.inputs();
        assert_eq!(result, [["user: a"], ["function_call_output c1"]], "{owner:?}");
        world.assert_clean(owner);
    }
}

/// The reference sends the placeholder id, which the provider refuses: a run removes it.
#[tokio::test]
async fn b07_item_with_a_placeholder_id_is_sent_without_it() {
    for owner in SERVERS {
        let world = World::new().await;
        let message = |text: &str| {
            let message = json!({"id": "__fake_id__", "role": "user", "content": text});
            vec![item(&message)]
        };
        let result = world.run(world.state(owner), message("one")).await;
        world.run(result.next_state(), message("two")).await;
        assert_eq!(world.inputs(), [["user: one"], ["user: two"]], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b08_omitted_reasoning_ids_stay_omitted_after_a_restart() {
    for owner in CLIENTS {
        let world = World::new().await;
        let turn = answer().reasoning("Hm.").call("c1", "pay", r#"{"city":"Bonn"}"#);
        let again = answer().reasoning("Hm again.").call("c2", "look_up", r#"{"city":"Rome"}"#);
        world.script([turn, again, says("Done.")]);
        let run = world.start(world.state(owner), "go");
        let mut run = run.reasoning_ids(ReasoningIds::Omit);
        drain(&mut run).await;
        let mut run = world.restart(run);
        run.approve("c1").unwrap();
        let result = run.into_result().await.unwrap();
        let last = world.turns()[2].clone();
        let reasoning: Vec<_> =
            last.input().iter().filter(|item| item["type"] == "reasoning").collect();
        assert_eq!(reasoning.len(), 2, "{owner:?}");
        assert!(reasoning.iter().all(|item| item["id"].is_null()), "{owner:?}");
        let stored = match owner {
            Owner::Session => world.session_items().await,
            _ => result.next_input(),
        };
        let is_reasoning = |item: &&Item| item.head().kind.as_str() == "reasoning";
        assert_eq!(stored.iter().filter(is_reasoning).count(), 2);
        assert!(stored.iter().filter(is_reasoning).all(|item| item.head().id.is_none()));
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b08_server_is_not_sent_its_reasoning_again() {
    for owner in SERVERS {
        let world = World::new().await;
        let turn = answer().reasoning("Hm.").call("c1", "pay", r#"{"city":"Bonn"}"#);
        world.script([turn, says("Done.")]);
        let run = world.start(world.state(owner), "go");
        let mut run = run.reasoning_ids(ReasoningIds::Omit);
        drain(&mut run).await;
        let mut run = world.restart(run);
        run.approve("c1").unwrap();
        run.into_result().await.unwrap();
        assert_eq!(world.inputs()[1], ["function_call_output c1"], "{owner:?}");
        world.assert_clean(owner);
    }
}

/// The reference sends the output alone, without its call, which the provider refuses: a run also
/// sends the items of the response that cannot be continued.
#[tokio::test]
async fn b09_chain_continues_from_the_last_response_with_an_id() {
    let world = World::new().await;
    let first = world.run(State::chain(), "one").await;
    let nameless = calls("c1", "look_up", "Bonn");
    let id = format!(r#""id":"{}""#, nameless.response_id());
    let reply = Reply::sse(nameless.frames()).replace(&id, r#""id":"""#);
    world.script([Script::from(reply), says("Found.").into()]);
    let result = world.run(first.next_state(), "two").await;
    assert_eq!(result.end(), &End::Answered { agent: "first".into() });
    let turns = world.turns();
    let previous = turns[1].body["previous_response_id"].clone();
    assert!(previous.is_string());
    assert_eq!(turns[2].body["previous_response_id"], previous);
    let all = ["user: two", "function_call c1", "function_call_output c1"];
    assert_eq!(world.inputs()[2], all);
    world.run(result.next_state(), "three").await;
    assert_eq!(world.inputs()[3], ["user: three"]);
    world.assert_clean("");
}

#[tokio::test]
async fn b10_only_the_filtered_items_count_as_sent() {
    for owner in SERVERS {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn"), says("Done.")]);
        let run = world.start(world.state(owner), vec![user("a"), user("b"), user("c")]);
        let without_b = |mut items: Vec<Returned>| {
            let is_first = items.len() == 3;
            items.retain(|returned| !(is_first && returned.item.text().contains(r#""b""#)));
            items
        };
        let mut run = run.filter_input(without_b);
        let events = drain(&mut run).await;
        assert!(matches!(events.last(), Some(RunEvent::Ended(_))));
        let second = ["user: b", "function_call_output c1"];
        assert_eq!(world.inputs(), [["user: a", "user: c"], second], "{owner:?}");
        world.assert_clean(owner);
    }
}
