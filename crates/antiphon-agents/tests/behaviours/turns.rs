//! Requests over several turns, and the agents that make them.

use std::sync::Arc;

use antiphon::Item;
use antiphon_agents::TeamError;
use antiphon_agents::machine::{End, RunState};
use antiphon_agents::model::{EventKind, ModelSettings};
use antiphon_agents::session::SessionStore;
use antiphon_agents::{Agent, Handoff, Run, RunError, RunEvent, State, user};
use antiphon_mock::{OnAbort, Script};
use serde_json::{Value, json};

use super::world::{
    CLIENTS, Effects, OWNERS, Owner, SERVERS, SESSION, World, answer, calls, drain, forms, limits,
    says,
};

#[tokio::test]
async fn b11_each_request_to_a_conversation_has_only_new_items() {
    for is_streamed in [false, true] {
        let world = World::new().await;
        world.script([calls("c1", "look_up", "Bonn"), says("One."), says("Two."), says("Three.")]);
        for text in ["one", "two", "three"] {
            let mut run = world.start(world.state(Owner::Conversation), text);
            if is_streamed {
                drain(&mut run).await;
            }
            run.into_result().await.unwrap();
        }
        let expected = [["user: one"], ["function_call_output c1"], ["user: two"], ["user: three"]];
        assert_eq!(world.inputs(), expected);
        for turn in world.turns() {
            assert_eq!(turn.body["conversation"], world.conversation);
        }
        assert_eq!(world.last_model_input().len(), 7);
        world.assert_clean(is_streamed);
    }
}

/// The responses that the requests continue.
fn previous(world: &World) -> Vec<Value> {
    let turns = world.turns();
    turns.iter().map(|turn| turn.body["previous_response_id"].clone()).collect()
}

/// The ids of the responses of a run.
async fn responses(mut run: Run<Effects>) -> Vec<Value> {
    let events = drain(&mut run).await;
    let id = |event: &RunEvent| match event {
        RunEvent::Answer(event) => match event.kind() {
            EventKind::Completed(answered) => answered.response_id.clone(),
            _ => None,
        },
        _ => None,
    };
    events.iter().filter_map(id).map(|id| id.as_str().into()).collect()
}

#[tokio::test]
async fn b12_every_request_continues_the_response_before() {
    let world = World::new().await;
    world.script([says("Zero."), calls("c1", "look_up", "Bonn"), calls("c2", "look_up", "Rome")]);
    world.script([says("Done.")]);
    let first = world.run(State::chain(), "zero").await;
    let id = first.continuation().unwrap().previous_response_id().unwrap().clone();
    let responses = responses(world.start(State::chain_after(id.clone()), "one")).await;
    let outputs = [["function_call_output c1"], ["function_call_output c2"]];
    assert_eq!(world.inputs()[1..], [["user: one"], outputs[0], outputs[1]]);
    let expected = [Value::from(id.as_str()), responses[0].clone(), responses[1].clone()];
    assert_eq!(previous(&world)[1..], expected);
    world.assert_clean("");
}

#[tokio::test]
async fn b13_new_chain_begins_with_its_first_response() {
    let world = World::new().await;
    world.script([calls("c1", "look_up", "Bonn"), says("Done."), says("More.")]);
    let responses = responses(world.start(State::chain(), "one")).await;
    let last = responses[1].as_str().unwrap();
    world.run(State::chain_after(last), "two").await;
    let expected = [Value::Null, responses[0].clone(), responses[1].clone()];
    assert_eq!(previous(&world), expected);
    world.assert_clean("");
}

#[tokio::test]
async fn b14_client_sends_its_whole_history() {
    for owner in CLIENTS {
        let world = World::new().await;
        let turn = answer().reasoning("Hm.").call("c1", "look_up", r#"{"city":"Bonn"}"#);
        world.script([turn, says("Done."), says("More.")]);
        let result = world.run(world.state(owner), "one").await;
        world.run(result.next_state(), "two").await;
        let expected = [
            "user: one",
            "reasoning",
            "function_call c1",
            "function_call_output c1",
            "assistant: Done.",
            "user: two",
        ];
        assert_eq!(world.inputs()[2], expected, "{owner:?}");
        for turn in world.turns() {
            assert_eq!(turn.body["store"], false);
            assert_eq!(turn.body["conversation"], Value::Null);
            assert_eq!(turn.body["previous_response_id"], Value::Null);
        }
        world.assert_clean(owner);
    }
}

/// The number of inputs with this text that the model was given at last.
fn count(world: &World, text: &str) -> usize {
    world.last_model_input().iter().filter(|form| *form == text).count()
}

#[tokio::test]
async fn b15_input_of_a_retried_request_is_not_sent_in_later_turns() {
    for owner in OWNERS {
        for on_abort in [OnAbort::StoreNothing, OnAbort::StorePart] {
            let case = (owner, on_abort);
            let world = World::on_abort(on_abort).await;
            world.provider.script(Script::from(says("Lost.")).break_after(1));
            world.script([calls("c1", "look_up", "Bonn"), says("Done.")]);
            let result = world.run(world.state(owner), "one").await;
            assert_eq!(result.text(), "Done.", "{case:?}");
            assert_eq!(count(&world, "user: one"), 1, "{case:?}");
            if SERVERS.contains(&owner) {
                let last = world.inputs().pop().unwrap();
                assert_eq!(last, ["function_call_output c1"], "{case:?}");
            }
            world.assert_clean(case);
        }
    }
}

/// The reference refuses options that name two owners when the run starts. A [`State`] has one
/// owner, so two cannot be named; the test shows that no run writes to another's, also resumed.
#[tokio::test]
async fn b16_state_has_one_owner() {
    for owner in OWNERS {
        let world = World::new().await;
        world.script([calls("c1", "pay", "Bonn"), says("Done.")]);
        let mut run = world.start(world.state(owner), "one");
        drain(&mut run).await;
        let mut run = world.restart(run);
        run.approve("c1").unwrap();
        run.into_result().await.unwrap();
        let stored = (world.session_items().await.len(), world.conversation_items().len());
        let expected = match owner {
            Owner::Session => (4, 0),
            Owner::Conversation => (0, 4),
            Owner::Replay | Owner::Chain => (0, 0),
        };
        assert_eq!(stored, expected, "{owner:?}");
        for turn in world.turns() {
            let has_conversation = !turn.body["conversation"].is_null();
            let has_previous = !turn.body["previous_response_id"].is_null();
            assert!(!(has_conversation && has_previous), "{owner:?}");
            assert!(!has_conversation || owner == Owner::Conversation, "{owner:?}");
            assert!(!has_previous || owner == Owner::Chain, "{owner:?}");
        }
        world.assert_clean(owner);
    }
}

/// A team whose first agent hands over with this filter.
fn handing_over(
    world: &World,
    filter: impl Fn(Vec<Item>) -> Vec<Item> + Send + Sync + 'static,
) -> Agent<Effects, antiphon_agents::agent::WithModel> {
    let expert = Agent::new("expert");
    let handoff = Handoff::to(&expert).filter(filter);
    Agent::new("first").handoff(handoff).model(world.model())
}

/// The reference refuses a filter if a server owns the state. A run continues in a new conversation
/// or chain, which begins with the filtered items; the one before stays complete.
#[tokio::test]
async fn b17_filtered_handoff_over_a_conversation_forks() {
    for owner in OWNERS {
        let world = World::new().await;
        let only_last = |items: Vec<Item>| {
            let is_user = |item: &Item| item.head().role == Some(antiphon::item::Role::User);
            items.into_iter().rev().find(is_user).into_iter().collect()
        };
        let agent = handing_over(&world, only_last);
        let handoff = answer().call("c1", "transfer_to_expert", "{}");
        world.script([says("Hello."), handoff, says("Expert here.")]);
        let result =
            world.start_agent(&agent, world.state(owner), "hi").into_result().await.unwrap();
        let run = world.start_agent(&agent, result.next_state(), "help");
        let result = run.into_result().await.unwrap();
        assert_eq!(result.end(), &End::Answered { agent: "expert".into() }, "{owner:?}");
        assert_eq!(world.last_model_input(), ["user: help"], "{owner:?}");
        let forks = result.state().forks().len();
        assert_eq!(forks, usize::from(SERVERS.contains(&owner)), "{owner:?}");
        if owner == Owner::Conversation {
            let left = forms(&world.conversation_items());
            assert_eq!(left[3..], ["function_call c1", "function_call_output c1"]);
        }
        world.assert_clean(owner);
    }
}

/// The reference does not fold the history into one message if a server owns it, and warns. A run
/// forks with the folded history.
#[tokio::test]
async fn b18_handoff_that_folds_the_history_works_with_every_owner() {
    for owner in OWNERS {
        let world = World::new().await;
        let fold = |items: Vec<Item>| vec![user(&format!("Before: {}", forms(&items).join(", ")))];
        let agent = handing_over(&world, fold);
        let handoff = answer().call("c1", "transfer_to_expert", "{}");
        world.script([handoff, says("Expert here.")]);
        let run = world.start_agent(&agent, world.state(owner), "help");
        let result = run.into_result().await.unwrap();
        assert_eq!(result.text(), "Expert here.", "{owner:?}");
        let folded = "user: Before: user: help, function_call c1, function_call_output c1";
        assert_eq!(world.last_model_input(), [folded], "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b16_state_without_a_session_refuses_a_store() {
    for owner in [Owner::Replay, Owner::Conversation, Owner::Chain] {
        let world = World::new().await;
        world.script([calls("c1", "pay", "Bonn")]);
        let mut run = world.start(world.state(owner), "one");
        drain(&mut run).await;
        let state = RunState::read(&run.suspend().to_json()).unwrap();
        let store: Arc<dyn SessionStore> = Arc::new(world.sessions.clone());
        let resumed = Run::resume(&world.agent(), state, Some(store), Arc::clone(&world.effects));
        assert!(matches!(resumed.map(drop), Err(RunError::NoSession)), "{owner:?}");
        assert!(world.session_items().await.is_empty(), "{owner:?}");
    }
}

/// Settings cannot name a second owner either.
#[tokio::test]
async fn b16_settings_name_no_owner() {
    for field in ["conversation", "previous_response_id"] {
        let world = World::new().await;
        let other = [(field.to_owned(), json!("conv_1"))].into_iter().collect();
        let agent = world.agent().settings(ModelSettings { other, ..ModelSettings::default() });
        for owner in OWNERS {
            let run = Run::start_with(&agent, world.state(owner), "one", Effects::default());
            let error = run.map(drop).unwrap_err();
            let expected = TeamError::Setting { agent: "first".into(), field: field.into() };
            assert_eq!(error, expected, "{owner:?}");
            assert!(error.to_string().contains("the one owner of the items"), "{error}");
        }
    }
}

#[tokio::test]
async fn b16_state_of_a_session_needs_its_store() {
    let world = World::new().await;
    world.script([calls("c1", "pay", "Bonn")]);
    let mut run = world.start(world.state(Owner::Session), "one");
    drain(&mut run).await;
    let state = RunState::read(&run.suspend().to_json()).unwrap();
    assert_eq!(state.session(), Some(SESSION));
    let resumed = Run::resume(&world.agent(), state, None, Arc::clone(&world.effects));
    assert!(resumed.map(|run| run.limits(limits())).is_err());
    assert_eq!(world.sessions.load(SESSION).await.unwrap().items.len(), 2);
}
