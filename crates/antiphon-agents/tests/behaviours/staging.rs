//! Input that is staged while a run is paused.

use antiphon::tracker::{Returned, RunFinished};
use antiphon_agents::machine::End;
use antiphon_agents::model::Answered;
use antiphon_agents::{HookError, Hooks, Run, user};
use async_trait::async_trait;

use super::world::{Effects, OWNERS, Owner, SERVERS, World, calls, drain, says};

/// A run that waits for the approval of a call.
async fn paused(world: &World, owner: Owner) -> Run<Effects> {
    world.script([calls("c1", "pay", "Bonn")]);
    let mut run = world.start(world.state(owner), "go");
    drain(&mut run).await;
    assert_eq!(run.waiting().len(), 1);
    run
}

#[tokio::test]
async fn b30_staged_input_follows_the_output_once() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.approve("c1").unwrap();
        world.script([calls("c2", "look_up", "Rome"), says("Done.")]);
        let result = run.into_result().await.unwrap();
        assert_eq!(result.text(), "Done.");
        let expected = [
            "user: go",
            "function_call c1",
            "function_call_output c1",
            "user: hurry",
            "function_call c2",
            "function_call_output c2",
        ];
        assert_eq!(world.last_model_input(), expected, "{owner:?}");
        world.run(result.next_state(), "thanks").await;
        assert_eq!(world.last_model_input().len(), 8, "{owner:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b31_two_identical_inputs_survive_a_restart() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.stage(user("hurry")).unwrap();
        let mut run = world.restart(run);
        run.approve("c1").unwrap();
        run.into_result().await.unwrap();
        let input = world.last_model_input();
        assert_eq!(input[2..], ["function_call_output c1", "user: hurry", "user: hurry"]);
        assert_eq!(world.provider.refusals(), [], "{owner:?}");
    }
}

#[tokio::test]
async fn b32_staged_input_of_a_failed_request_stays_pending() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.approve("c1").unwrap();
        for _ in 0..4 {
            world.fail_next_turn(503);
        }
        let result = run.into_result().await.unwrap();
        assert!(matches!(result.end(), End::Failed { .. }), "{owner:?}");
        world.run(result.next_state(), "again").await;
        let expected = [
            "user: go",
            "function_call c1",
            "function_call_output c1",
            "user: hurry",
            "user: again",
        ];
        assert_eq!(world.last_model_input(), expected, "{owner:?}");
        assert_eq!(world.provider.duplicates(), [], "{owner:?}");
    }
}

/// A filter that leaves out items with this text.
fn without(text: &'static str) -> impl Fn(Vec<Returned>) -> Vec<Returned> {
    move |mut items| {
        items.retain(|returned| !returned.item.text().contains(text));
        items
    }
}

#[tokio::test]
async fn b33_item_that_a_filter_left_out_is_pending_after_a_restart() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.approve("c1").unwrap();
        world.script([calls("c2", "pay", "Rome"), says("Done.")]);
        let mut run = run.filter_input(without("hurry"));
        drain(&mut run).await;
        assert!(!world.last_model_input().contains(&"user: hurry".to_owned()));
        let mut run = world.restart(run);
        run.approve("c2").unwrap();
        run.into_result().await.unwrap();
        let input = world.last_model_input();
        let count = input.iter().filter(|form| *form == "user: hurry").count();
        assert_eq!(count, 1, "{owner:?}: {input:?}");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b33_item_that_a_filter_left_out_is_pending_in_the_next_run() {
    for owner in SERVERS {
        let world = World::new().await;
        let run = world.start(world.state(owner), vec![user("a"), user("b")]);
        let result = run.filter_input(without(r#""b""#)).into_result().await.unwrap();
        world.run(result.next_state(), "c").await;
        assert_eq!(world.inputs(), [vec!["user: a"], vec!["user: b", "user: c"]], "{owner:?}");
        world.assert_clean(owner);
    }
}

/// Fails after each answer of a model.
struct FailsAfterAnswer;

#[async_trait]
impl Hooks<Effects> for FailsAfterAnswer {
    async fn model_answered(&self, _: &Effects, _: &str, _: &Answered) -> Result<(), HookError> {
        Err("the hook failed".into())
    }
}

#[tokio::test]
async fn b34_accepted_input_is_not_replayed_after_a_failed_hook() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.approve("c1").unwrap();
        world.script([calls("c2", "look_up", "Rome")]);
        let result = run.hooks(FailsAfterAnswer).into_result().await.unwrap();
        assert_eq!(result.end(), &End::Failed { error: "a hook failed: the hook failed".into() });
        world.run(result.next_state(), "again").await;
        let expected = [
            "user: go",
            "function_call c1",
            "function_call_output c1",
            "user: hurry",
            "function_call c2",
            "function_call_output c2",
            "user: again",
        ];
        assert_eq!(world.last_model_input(), expected, "{owner:?}");
        assert_eq!(world.effects.all(), ["pay Bonn"], "the run ended before the second call");
        world.assert_clean(owner);
    }
}

#[tokio::test]
async fn b35_ambiguous_rebuild_is_rejected() {
    for owner in SERVERS {
        let world = World::new().await;
        let mut run = paused(&world, owner).await;
        run.stage(user("hurry")).unwrap();
        run.stage(user("hurry")).unwrap();
        run.approve("c1").unwrap();
        let one_of_two = |mut items: Vec<Returned>| {
            items.pop();
            items.into_iter().map(|it| Returned { occurrence: None, ..it }).collect()
        };
        let result = run.filter_input(one_of_two).into_result().await.unwrap();
        let End::Failed { error } = result.end() else { panic!("{:?}", result.end()) };
        assert!(error.contains("ambiguous"), "{error}");
        assert_eq!(world.turns().len(), 1, "nothing was sent");
        world.run(result.next_state(), "again").await;
        let last = world.last_model_input();
        assert_eq!(last[3..], ["user: hurry", "user: hurry", "user: again"], "{owner:?}");
        assert_eq!(world.provider.refusals(), [], "{owner:?}");
    }
}

#[tokio::test]
async fn b36_nothing_is_staged_after_the_end() {
    for owner in OWNERS {
        let world = World::new().await;
        let mut run = world.start(world.state(owner), "go");
        drain(&mut run).await;
        let before = format!("{run:?}");
        assert_eq!(run.stage(user("late")), Err(RunFinished));
        assert_eq!(format!("{run:?}"), before);
        let result = run.into_result().await.unwrap();
        assert_eq!(result.items().len(), 2, "{owner:?}");
        assert_eq!(world.turns().len(), 1, "{owner:?}");
    }
}
