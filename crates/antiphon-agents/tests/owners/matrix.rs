//! Every owner: runs that follow each other, with parallel calls, approvals and handoffs.

use antiphon_agents::machine::End;
use antiphon_agents::{Agent, Run, State, tool};
use antiphon_mock::OnAbort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents::{Effects, model};
use crate::scenario::{OWNERS, Owner, answer};
use crate::verdict::assert_clean;
use crate::world::{SESSION, World, finish};

/// The number of effects of each tool.
fn runs(world: &World) -> (usize, usize) {
    (world.effects.count("look_up"), world.effects.count("pay"))
}

#[tokio::test]
async fn runs_follow_each_other() {
    for owner in OWNERS {
        let world = World::new(OnAbort::default()).await;
        world.script([answer().message("One."), answer().message("Two.")]);
        let result = finish(world.start(owner, world.state(owner), "first")).await;
        let result = finish(world.start(owner, result.next_state(), "second")).await;
        assert_eq!(result.text(), "Two.", "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn parallel_calls_and_approvals_run_once() {
    for owner in OWNERS.into_iter().filter(|owner| owner.has_journal()) {
        let world = World::new(OnAbort::default()).await;
        let calls = answer().call("c1", "look_up", "{}").call("c2", "pay", "{}");
        world.script([calls.call("c3", "look_up", "{}"), answer().message("Done.")]);
        let mut run = world.start(owner, world.state(owner), "go");
        while run.next().await.is_some() {}
        assert_eq!(run.waiting().len(), 1, "{owner:?}");
        drop(run);
        let result = finish(world.resume().await.unwrap()).await;
        assert_eq!((result.text().as_str(), runs(&world)), ("Done.", (2, 1)), "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
    }
}

#[tokio::test]
async fn handoffs_work_with_every_owner() {
    for owner in OWNERS {
        for handoff in ["transfer_to_expert", "ask_expert"] {
            let case = format!("{owner:?} {handoff}");
            let world = World::new(OnAbort::default()).await;
            let calls = answer().call("c1", handoff, "{}").call("c2", "look_up", "{}");
            let more = answer().call("c3", "look_up", "{}");
            world.script([calls, more, answer().message("Done."), answer().message("More.")]);
            let result = finish(world.start(owner, world.state(owner), "go")).await;
            assert_eq!(result.end(), &End::Answered { agent: "expert".into() }, "{case}");
            let result = finish(world.start(owner, result.next_state(), "and?")).await;
            assert_eq!((result.text().as_str(), runs(&world)), ("More.", (2, 0)), "{case}");
            assert_clean(&world.provider, &case);
            // The conversation that the run left can still be continued.
            let result = finish(world.start(owner, world.state(owner), "again")).await;
            assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
            assert_clean(&world.provider, &case);
        }
    }
}

#[tokio::test]
async fn last_items_are_given_and_all_are_stored() {
    for owner in [Owner::Replay, Owner::Session] {
        let world = World::new(OnAbort::default()).await;
        let call = answer().reasoning("Think.").call("c1", "look_up", "{}");
        world.script([call, answer().message("One."), answer().message("Two.")]);
        let result = finish(world.start(owner, world.state(owner), "first")).await;
        // The cut is between the call and its output.
        let state = result.next_state().last(2);
        let result = finish(world.start(owner, state, "second")).await;
        let given = world.provider.turns().pop().unwrap().model_input.unwrap();
        let texts: Vec<_> = given.iter().map(|item| &item["content"][0]["text"]).collect();
        assert_eq!(texts, ["One.", "second"], "{owner:?}");
        assert_clean(&world.provider, &format!("{owner:?}"));
        let stored = match owner {
            Owner::Replay => result.next_input(),
            _ => world.sessions.load(SESSION).await.unwrap().items,
        };
        assert_eq!(stored.len(), 7, "{owner:?}");
    }
}

/// Panics.
#[tool]
async fn broken() -> String {
    panic!("a tool of the test panics");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Receipt {
    cents: u64,
}

/// Starts a run of an agent with a broken tool, or with an output type.
fn start(world: &World, agent: Agent<Effects>, state: State, input: &str) -> Run<Effects> {
    let agent = agent.model(model(&world.provider.base_url()));
    Run::start_with(&agent, state, input, Effects::default()).unwrap()
}

#[tokio::test]
async fn panic_of_a_tool_is_an_output_with_every_owner() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new(OnAbort::default()).await;
        let calls = answer().call("c1", "broken", "{}").call("c2", "broken", "{}");
        world.script([calls, answer().message("I see."), answer().message("Yes.")]);
        let agent = || Agent::new("a").tool(broken);
        let result = finish(start(&world, agent(), world.state(owner), "go")).await;
        assert_eq!(result.text(), "I see.", "{case}");
        let input = world.provider.turns()[1].model_input.clone().unwrap();
        let outputs = input.iter().filter_map(|item| item["output"].as_str());
        let outputs: Vec<_> = outputs.collect();
        assert_eq!(outputs, ["The tool failed unexpectedly."; 2], "{case}");
        let result = finish(start(&world, agent(), result.next_state(), "really?")).await;
        assert_eq!(result.text(), "Yes.", "{case}");
        assert_clean(&world.provider, &case);
    }
}

#[tokio::test]
async fn answer_of_another_form_is_corrected_once_with_every_owner() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new(OnAbort::default()).await;
        let texts = [r#"{"cents":"five"}"#, r#"{"cents":5}"#, r#"{"cents":6}"#];
        world.script(texts.map(|text| answer().message(text)));
        let agent = || Agent::new("a").output::<Receipt>();
        let result = finish(start(&world, agent(), world.state(owner), "go")).await;
        assert_eq!(result.output::<Receipt>().unwrap(), Receipt { cents: 5 }, "{case}");
        let result = finish(start(&world, agent(), result.next_state(), "more")).await;
        assert_eq!(result.output::<Receipt>().unwrap(), Receipt { cents: 6 }, "{case}");
        let turns = world.provider.turns();
        let given = turns[2].model_input.clone().unwrap();
        let roles: Vec<_> = given.iter().filter_map(|item| item["role"].as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"], "{case}");
        assert_eq!(turns[0].body["text"]["format"]["strict"], true, "{case}");
        assert_clean(&world.provider, &case);
    }
}
