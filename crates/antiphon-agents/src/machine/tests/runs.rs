//! Runs without interruptions, with every owner.

use super::world::{OWNERS, OwnerKind, Paused, World, call, says, start, summary};
use crate::machine::{End, ModelAnswer, Step};
use crate::rules::{CancelMode, Outcome};

fn answered(agent: &str) -> Paused {
    Paused::Ended(End::Answered { agent: agent.into() })
}

#[test]
fn answer_ends_the_run() {
    for owner in OWNERS {
        let mut world = World::new([vec![says("hi")]]);
        let mut machine = start(World::owner(owner), "hello");
        assert_eq!(world.run(&mut machine), answered("first"), "{owner:?}");
        assert_eq!(summary(&world.contexts[0]), ["User: hello"], "{owner:?}");
        assert_eq!(summary(machine.view().items()), ["User: hello", "Assistant: hi"]);
    }
}

#[test]
fn input_is_saved_before_the_model_is_asked() {
    let mut world = World::new([vec![says("hi")]]);
    let mut machine = start(World::owner(OwnerKind::Session), "hello");
    while !matches!(machine.step(), Step::Ask(_)) {
        assert_eq!(world.perform(&mut machine), None);
    }
    assert_eq!(summary(&world.session), ["User: hello"]);
}

#[test]
fn model_reads_the_outputs_of_parallel_calls_in_its_order() {
    for owner in OWNERS {
        let calls = vec![call("c1", "plain"), call("c2", "plain")];
        let mut world = World::new([calls, vec![says("done")]]);
        let mut machine = start(World::owner(owner), "go");
        while !matches!(machine.step(), Step::Call(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        // The second call ends first.
        let Step::Call(calls) = machine.step() else { unreachable!() };
        let key = calls[1].head().pairing().unwrap().1;
        world.ran.push("c2".into());
        machine.call_ended(&key, Outcome::Failed("out of order".into()));
        assert_eq!(world.run(&mut machine), answered("first"), "{owner:?}");
        assert_eq!(world.ran, ["c2", "c1"]);
        let context = summary(&world.contexts[1]);
        assert_eq!(context[1..3], ["function_call c1", "function_call c2"]);
        if matches!(owner, OwnerKind::Replay | OwnerKind::Session) {
            assert_eq!(context[3..], ["function_call_output c1", "function_call_output c2"]);
        }
    }
}

#[test]
fn approved_call_runs_and_rejected_call_does_not() {
    for owner in OWNERS {
        let calls = vec![call("c1", "approved"), call("c2", "reviewed"), call("c3", "plain")];
        let mut world = World::new([calls, vec![says("done")]]);
        let mut machine = start(World::owner(owner), "go");
        let waiting = Paused::Waiting(vec!["c1".into(), "c2".into()]);
        assert_eq!(world.run(&mut machine), waiting, "{owner:?}");
        assert_eq!(world.ran, ["c3"], "the call without an approval runs at once");
        let mut machine = super::world::resume(&machine.state().to_json());
        assert_eq!(world.run(&mut machine), waiting, "{owner:?}");
        machine.approve("c1").unwrap();
        machine.reject("c2", "too high").unwrap();
        assert!(machine.approve("c2").is_err(), "it was decided");
        assert_eq!(world.run(&mut machine), answered("first"), "{owner:?}");
        assert_eq!(world.ran, ["c3", "c1"], "{owner:?}");
    }
}

#[test]
fn handoff_changes_the_agent() {
    for owner in OWNERS {
        let calls = vec![call("c1", "to_second"), call("c2", "to_second")];
        let mut world = World::new([calls, vec![says("here")]]);
        let mut machine = start(World::owner(owner), "go");
        assert_eq!(world.run(&mut machine), answered("second"), "{owner:?}");
        assert_eq!(world.contexts.len(), 2);
    }
}

#[test]
fn filtered_handoff_gives_the_next_agent_the_filtered_items() {
    for owner in OWNERS {
        let calls = vec![call("c1", "to_second_filtered")];
        let mut world = World::new([calls, vec![says("here")]]);
        let mut machine = start(World::owner(owner), "go");
        assert_eq!(world.run(&mut machine), answered("second"), "{owner:?}");
        assert_eq!(summary(&world.contexts[1]), ["User: go"], "{owner:?}");
        let has_forked = matches!(owner, OwnerKind::Conversation | OwnerKind::Chain);
        assert_eq!(machine.view().forks().len(), usize::from(has_forked));
        if owner == OwnerKind::Conversation {
            let left = summary(&world.conversations[0]);
            assert_eq!(left, ["User: go", "function_call c1", "function_call_output c1"]);
        }
        if owner == OwnerKind::Session {
            assert_eq!(summary(&world.session).len(), 4, "the stored history is whole");
        }
    }
}

#[test]
fn cancelled_run_leaves_every_call_with_an_output() {
    for owner in OWNERS {
        let mut world = World::new([vec![call("c1", "plain"), call("c2", "approved")]]);
        let mut machine = start(World::owner(owner), "go");
        while !matches!(machine.step(), Step::Call(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        machine.cancel(CancelMode::Immediate);
        assert_eq!(world.run(&mut machine), Paused::Ended(End::Cancelled), "{owner:?}");
        let outputs = ["function_call_output c1", "function_call_output c2"];
        let items = summary(machine.view().items());
        assert!(items.ends_with(&outputs.map(String::from)), "{owner:?}: {items:?}");
        if owner == OwnerKind::Conversation {
            assert_eq!(summary(&world.conversations[0])[3..], outputs);
        }
        if owner == OwnerKind::Session {
            assert_eq!(summary(&world.session)[3..], outputs);
        }
    }
}

#[test]
fn cancellation_after_the_turn_saves_the_outputs() {
    for owner in OWNERS {
        let mut world = World::new([vec![call("c1", "plain")]]);
        let mut machine = start(World::owner(owner), "go");
        while !matches!(machine.step(), Step::Call(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        machine.cancel(CancelMode::AfterTurn);
        assert_eq!(world.run(&mut machine), Paused::Ended(End::Cancelled), "{owner:?}");
        assert_eq!(world.ran, ["c1"]);
    }
}

#[test]
fn cancellation_after_the_turn_waits_for_the_answer() {
    for owner in OWNERS {
        let mut world = World::new([vec![call("c1", "approved")]]);
        let mut machine = start(World::owner(owner), "go");
        while !matches!(machine.step(), Step::Ask(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        machine.ask(None).unwrap();
        machine.cancel(CancelMode::AfterTurn);
        assert_eq!(machine.view().end(), None, "{owner:?}");
        let output = vec![call("c1", "approved")];
        let response_id = Some("resp_9".into());
        machine.answered(&ModelAnswer { response_id, output, ..ModelAnswer::default() });
        let waiting = Paused::Waiting(vec!["c1".into()]);
        assert_eq!(world.run(&mut machine), waiting, "{owner:?}");
        assert_eq!(machine.view().end(), None, "{owner:?}");
        machine.approve("c1").unwrap();
        while !matches!(machine.step(), Step::Deliver(_) | Step::Done(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        assert_eq!(machine.view().end(), Some(&End::Cancelled), "{owner:?}");
        assert_eq!(world.ran, ["c1"], "{owner:?}");
    }
}

#[test]
fn run_ends_at_its_turn_limit() {
    for owner in OWNERS {
        let turns = (0..10).map(|turn| vec![call(&format!("c{turn}"), "plain")]);
        let mut world = World::new(turns);
        let mut machine = start(World::owner(owner), "go");
        let end = End::TurnLimit { turns: 10 };
        assert_eq!(world.run(&mut machine), Paused::Ended(end), "{owner:?}");
        assert_eq!(world.ran.len(), 10);
    }
}

#[test]
fn changed_call_under_a_used_call_id_has_no_effect() {
    for owner in OWNERS {
        let changed = call("c1", "plain").with(|call| call.set_string("arguments", r#"{"a":1}"#));
        let changed = changed.with(|call| call.set_string("id", "fc_other"));
        let mut world = World::new([vec![call("c1", "plain")], vec![changed]]);
        let mut machine = start(World::owner(owner), "go");
        let Paused::Ended(End::Failed { error }) = world.run(&mut machine) else {
            panic!("{owner:?}")
        };
        assert!(error.contains("another payload"), "{error}");
        assert_eq!(world.ran, ["c1"], "{owner:?}");
    }
}
