//! Runs whose process dies between any two effects.

use super::world::{OWNERS, OwnerKind, Paused, World, call, resume, says, start, summary};
use crate::machine::{End, Machine, Step};

/// One run with every kind of call.
fn script() -> [Vec<antiphon::Item>; 4] {
    [
        vec![call("c1", "plain"), call("c2", "retried"), call("c3", "approved")],
        vec![call("c4", "to_second_filtered")],
        vec![says("almost")],
        vec![says("more")],
    ]
}

/// Continues the run to its end, and approves all that waits.
fn finish(world: &mut World, machine: &mut Machine) -> End {
    loop {
        match world.run(machine) {
            Paused::Ended(end) => return end,
            Paused::Waiting(calls) => {
                for call in &calls {
                    machine.approve(call).unwrap();
                }
            }
        }
    }
}

/// Runs until `steps` effects were performed, and drops the machine. `None` if the run ended
/// before.
fn die_after(world: &mut World, owner: OwnerKind, steps: usize) -> Option<()> {
    let mut machine = start(World::owner(owner), "go");
    for _ in 0..steps {
        match world.perform(&mut machine) {
            None => {}
            Some(Paused::Ended(_)) => return None,
            Some(Paused::Waiting(calls)) => {
                for call in &calls {
                    machine.approve(call).unwrap();
                }
            }
        }
    }
    Some(())
}

#[test]
fn resumed_run_repeats_nothing() {
    for owner in OWNERS {
        let mut steps = 0;
        loop {
            steps += 1;
            let mut world = World::new(script());
            if die_after(&mut world, owner, steps).is_none() {
                break;
            }
            let Some(checkpoint) = world.checkpoint.clone() else { continue };
            let mut machine = resume(&checkpoint);
            finish(&mut world, &mut machine);
            for id in ["c1", "c3"] {
                let runs = world.ran.iter().filter(|ran| *ran == id).count();
                assert!(runs <= 1, "{owner:?} after {steps}: {id} ran {runs} times");
            }
            for (context, number) in world.contexts.iter().zip(0..) {
                let users = summary(context).iter().filter(|it| *it == "User: go").count();
                assert_eq!(users, 1, "{owner:?} after {steps}, request {number}");
            }
        }
        assert!(steps > 10, "{owner:?}: {steps}");
    }
}

#[test]
fn session_continues_with_a_new_run() {
    let mut steps = 0;
    loop {
        steps += 1;
        let mut world = World::new(script());
        if die_after(&mut world, OwnerKind::Session, steps).is_none() {
            break;
        }
        let ran = world.ran.clone();
        world.script = [vec![says("again")]].into();
        let mut machine = start(World::owner(OwnerKind::Session), "still there?");
        let end = finish(&mut world, &mut machine);
        assert_eq!(end, End::Answered { agent: "first".into() });
        // Only the tool that may be retried runs again.
        assert!(world.ran[ran.len()..].iter().all(|ran| ran == "c2"), "after {steps}");
        let context = summary(world.contexts.last().unwrap());
        assert_eq!(context.last().unwrap(), "User: still there?", "after {steps}");
    }
}

#[test]
fn items_stored_after_the_last_checkpoint_are_stored_once() {
    let mut world = World::new([vec![call("c1", "plain")], vec![says("done")]]);
    let mut machine = start(World::owner(OwnerKind::Session), "go");
    for _ in 0..100 {
        let checkpoint = machine.state().to_json();
        let is_save = matches!(machine.step(), Step::Save(save) if !save.items.is_empty());
        if let Some(paused) = world.perform(&mut machine) {
            assert_eq!(paused, Paused::Ended(End::Answered { agent: "first".into() }));
            break;
        }
        if is_save {
            // The session has the items, and the process dies before it stores the run's state.
            machine = resume(&checkpoint);
        }
    }
    let stored = ["User: go", "function_call c1", "function_call_output c1", "Assistant: done"];
    assert_eq!(summary(&world.session), stored);
}

#[test]
fn unknown_outcome_is_reported_or_asked_about() {
    for owner in OWNERS {
        let calls = vec![call("c1", "plain"), call("c2", "asked")];
        let mut world = World::new([calls, vec![says("done")]]);
        let mut machine = start(World::owner(owner), "go");
        while !matches!(machine.step(), Step::Call(_)) {
            assert_eq!(world.perform(&mut machine), None);
        }
        let mut machine = resume(&machine.state().to_json());
        assert_eq!(world.run(&mut machine), Paused::Waiting(vec!["c2".into()]), "{owner:?}");
        machine.retry("c2").unwrap();
        world.run(&mut machine);
        assert_eq!(world.ran, ["c2"], "{owner:?}");
        let context = world.contexts.last().unwrap();
        let told = context.iter().any(|item| item.text().contains("outcome is unknown"));
        assert!(told, "{owner:?}: {context:#?}");
    }
}
