//! Guardrails with every owner of the state, against the strict provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon::Item;
use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::End;
use antiphon_agents::tool::ToolOutput;
use antiphon_agents::{
    Agent, CallVerdict, InputGuardrail, OutputGuardrail, OutputVerdict, RunEvent, RunTree,
    ToolContext, ToolGuardrail, Verdict, tool,
};
use antiphon_mock::{OnAbort, Script};
use async_trait::async_trait;
use tokio::sync::Notify;

use crate::world::{OWNERS, Owner, World, advance, answer, finish, kinds};

#[derive(Default)]
struct Desk {
    look_ups: AtomicUsize,
    checks: AtomicUsize,
    input_checks: AtomicUsize,
    /// Lets the guardrail of the input end.
    may_end: Notify,
}

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Desk>, about: String) -> String {
    cx.context().look_ups.fetch_add(1, Ordering::Relaxed);
    format!("found {about}")
}

/// Other tools have no guardrail.
#[tool]
async fn other(cx: &ToolContext<Desk>) -> &'static str {
    cx.context().look_ups.fetch_add(1, Ordering::Relaxed);
    "a secret"
}

/// Rejects, replaces and trips by words in the arguments and in the output.
struct ByWord;

#[async_trait]
impl ToolGuardrail<Desk> for ByWord {
    fn name(&self) -> &'static str {
        "by word"
    }

    async fn before(&self, cx: &ToolContext<Desk>, arguments: &str) -> CallVerdict {
        cx.context().checks.fetch_add(1, Ordering::Relaxed);
        match arguments {
            text if text.contains("forbidden") => CallVerdict::Reject("Ask for less.".into()),
            text if text.contains("bomb") => CallVerdict::Trip,
            _ => CallVerdict::Pass,
        }
    }

    async fn after(&self, _: &ToolContext<Desk>, output: &ToolOutput) -> OutputVerdict {
        match output {
            ToolOutput::Text(text) if text.contains("secret") => {
                OutputVerdict::Replace("(withheld)".into())
            }
            ToolOutput::Text(text) if text.contains("poison") => OutputVerdict::Trip,
            _ => OutputVerdict::Pass,
        }
    }
}

/// Trips if the last message has this word. It must not be hexadecimal, because ids are.
struct Rejects(&'static str);

impl Rejects {
    fn verdict(&self, items: &[Item]) -> Verdict {
        match items.last().is_some_and(|item| item.text().contains(self.0)) {
            true => Verdict::Trip,
            false => Verdict::Pass,
        }
    }
}

#[async_trait]
impl InputGuardrail<Desk> for Rejects {
    fn name(&self) -> &'static str {
        "input"
    }

    async fn check(&self, _: &Desk, input: &[Item]) -> Verdict {
        self.verdict(input)
    }
}

#[async_trait]
impl OutputGuardrail<Desk> for Rejects {
    fn name(&self) -> &'static str {
        "output"
    }

    async fn check(&self, _: &Desk, answer: &[Item]) -> Verdict {
        self.verdict(answer)
    }
}

/// As [`Rejects`], once the test allows it.
struct Slow(Rejects);

#[async_trait]
impl InputGuardrail<Desk> for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn check(&self, desk: &Desk, input: &[Item]) -> Verdict {
        desk.input_checks.fetch_add(1, Ordering::Relaxed);
        desk.may_end.notified().await;
        self.0.verdict(input)
    }
}

fn agent(world: &World) -> Agent<Desk, WithModel> {
    Agent::new("desk").guarded_tool(look_up, ByWord).tool(other).model(world.model())
}

fn call(call_id: &str, about: &str) -> antiphon_mock::Answer {
    answer().call(call_id, "look_up", format!(r#"{{"about":"{about}"}}"#))
}

fn tripped(guardrail: &str) -> End {
    End::Tripped { guardrail: guardrail.into() }
}

#[tokio::test]
async fn guardrail_of_a_tool_rejects_calls_and_replaces_outputs() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let calls = call("c1", "a forbidden thing")
            .call("c2", "look_up", r#"{"about":"a secret"}"#)
            .call("c3", "look_up", r#"{"about":"cats"}"#)
            .call("c4", "other", "{}");
        world.script([calls, answer().message("Done.")]);
        let desk = Arc::new(Desk::default());
        let run = world.start_with(&agent(&world), world.state(owner), "go", Arc::clone(&desk));
        finish(run).await;
        assert_eq!(world.last_output("c1"), "Ask for less.", "{case}");
        assert_eq!(world.last_output("c2"), "(withheld)", "{case}");
        assert_eq!(world.last_output("c3"), "found cats", "{case}");
        assert_eq!(world.last_output("c4"), "a secret", "{case}");
        assert_eq!(desk.look_ups.load(Ordering::Relaxed), 3, "{case}");
        assert_eq!(desk.checks.load(Ordering::Relaxed), 3, "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn guardrail_of_an_agent_checks_all_its_tools() {
    let world = World::new().await;
    let calls = call("c1", "cats").call("c2", "other", "{}");
    world.script([calls, answer().message("Done.")]);
    let agent = Agent::<Desk>::new("desk").tool(look_up).tool(other).tool_guardrail(ByWord);
    let agent = agent.model(world.model());
    finish(world.start(&agent, world.state(Owner::Replay), "go")).await;
    assert_eq!(world.last_output("c1"), "found cats");
    assert_eq!(world.last_output("c2"), "(withheld)");
}

#[tokio::test]
async fn guardrail_of_a_tool_ends_the_run() {
    for owner in OWNERS {
        for (about, ran) in [("a bomb", 0), ("poison", 1)] {
            let case = format!("{owner:?} {about}");
            let world = World::new().await;
            world.script([call("c1", about), answer().message("Again.")]);
            let desk = Arc::new(Desk::default());
            let agent = agent(&world);
            let run = world.start_with(&agent, world.state(owner), "go", Arc::clone(&desk));
            let result = finish(run).await;
            assert_eq!(result.end(), &tripped("by word"), "{case}");
            assert_eq!(desk.look_ups.load(Ordering::Relaxed), ran, "{case}");
            let output = result.items().last().unwrap().text();
            assert!(output.contains("guardrail rejected") && !output.contains("found"), "{case}");
            // The conversation can continue: the call has an output.
            let next = finish(world.start(&agent, result.next_state(), "and?")).await;
            assert_eq!(next.text(), "Again.", "{case}");
            world.assert_clean(&case);
        }
    }
}

#[tokio::test]
async fn rejected_input_is_stored_alone() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let agent = agent(&world).input_guardrail(Rejects("wrong"));
        let result = finish(world.start(&agent, world.state(owner), "a wrong thing")).await;
        assert_eq!(result.end(), &tripped("input"), "{case}");
        assert!(world.provider.turns().is_empty(), "{case}");
        assert_eq!(result.items().len(), 1, "{case}");
        world.assert_clean(&case);
    }
}

/// The events of a run while its guardrail has not ended and its answer has.
async fn events_before_the_verdict(
    run: &mut antiphon_agents::Run<Desk>,
    exchange: &antiphon_mock::Exchange,
) -> Vec<RunEvent> {
    let mut events = Vec::new();
    loop {
        tokio::select! {
            biased;
            event = run.next() => events.push(event.unwrap()),
            _ = exchange.wait_for_outcome() => return events,
        }
    }
}

#[tokio::test]
async fn answer_waits_for_the_guardrail_beside_it() {
    for owner in OWNERS {
        for is_wrong in [false, true] {
            let case = format!("{owner:?}, wrong: {is_wrong}");
            let world = World::new().await;
            let agent = agent(&world).concurrent_input_guardrail(Slow(Rejects("wrong")));
            let first = world.script_one(call("c1", "cats"));
            world.script([answer().message("Done.")]);
            let desk = Arc::new(Desk::default());
            let input = if is_wrong { "a wrong thing" } else { "a good thing" };
            let mut run = world.start_with(&agent, world.state(owner), input, Arc::clone(&desk));
            let events = events_before_the_verdict(&mut run, &first).await;
            let is_answer = |event: &RunEvent| matches!(event, RunEvent::Answer(_));
            assert!(!events.iter().any(is_answer), "{case}: {events:?}");
            assert_eq!(desk.look_ups.load(Ordering::Relaxed), 0, "{case}");
            desk.may_end.notify_one();
            let mut after = Vec::new();
            while let Some(event) = run.next().await {
                after.push(event);
            }
            let result = finish(run).await;
            assert_eq!(desk.input_checks.load(Ordering::Relaxed), 1, "{case}");
            assert_eq!(after.iter().any(is_answer), !is_wrong, "{case}");
            if is_wrong {
                assert_rejected(&world, owner, &result, &desk, &case).await;
            } else {
                assert_eq!(result.text(), "Done.", "{case}");
                assert_eq!(desk.look_ups.load(Ordering::Relaxed), 1, "{case}");
            }
            world.assert_clean(&case);
        }
    }
}

/// Checks that only the input is stored.
async fn assert_rejected(
    world: &World,
    owner: Owner,
    result: &antiphon_agents::RunResult,
    desk: &Desk,
    case: &str,
) {
    assert_eq!(result.end(), &tripped("slow"), "{case}");
    assert_eq!(desk.look_ups.load(Ordering::Relaxed), 0, "{case}");
    assert_eq!(result.items().len(), 1, "{case}");
    assert_eq!(RunTree(result.state()).to_string().matches("assistant").count(), 0, "{case}");
    match owner {
        Owner::Replay => assert_eq!(result.next_input().len(), 1, "{case}"),
        Owner::Session => {
            assert_eq!(world.sessions.load("s").await.unwrap().items.len(), 1, "{case}");
        }
        Owner::Conversation => {
            let items = world.provider.conversation_items(&world.conversation).unwrap();
            assert_eq!(kinds(&items), ["user"], "{case}");
        }
        Owner::Chain => {}
    }
    // The next run continues without the answer.
    let agent = Agent::<Desk>::new("next").tool(look_up).model(world.model());
    finish(world.start(&agent, result.next_state(), "and?")).await;
    assert_eq!(kinds(&world.last_input()), ["user", "user"], "{case}");
}

#[tokio::test]
async fn guardrail_cancels_the_answer_beside_it() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let agent = agent(&world).concurrent_input_guardrail(Slow(Rejects("wrong")));
        let first = world.script_one(Script::from(call("c1", "cats")).hang_after(3));
        let desk = Arc::new(Desk::default());
        let mut run = world.start_with(&agent, world.state(owner), "wrong", Arc::clone(&desk));
        loop {
            tokio::select! {
                biased;
                event = run.next() => assert!(!matches!(event, Some(RunEvent::Answer(_)))),
                () = first.wait_for_sent(3) => break,
            }
        }
        desk.may_end.notify_one();
        if owner == Owner::Conversation {
            // The server stores the answer, so the run waits for its end.
            tokio::select! {
                biased;
                event = run.next() => panic!("{event:?}"),
                () = tokio::task::yield_now() => {}
            }
            first.release_all();
        }
        advance(&mut run).await;
        let result = finish(run).await;
        world.provider.wait_until_idle().await;
        world.script([answer().message("Yes?")]);
        assert_rejected(&world, owner, &result, &desk, &case).await;
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn resumed_run_checks_its_input_before_tools_run() {
    for on_abort in [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing] {
        for owner in OWNERS {
            let case = format!("{owner:?} {on_abort:?}");
            let world = World::with_abort(on_abort).await;
            let agent = agent(&world).concurrent_input_guardrail(Slow(Rejects("wrong")));
            let first = world.script_one(call("c1", "cats"));
            let desk = Arc::new(Desk::default());
            let mut run = world.start_with(&agent, world.state(owner), "wrong", Arc::clone(&desk));
            events_before_the_verdict(&mut run, &first).await;
            drop(run);
            world.provider.wait_until_idle().await;
            world.script([answer().message("Unread."), answer().message("Yes?")]);
            let desk = Arc::new(Desk::default());
            desk.may_end.notify_one();
            let result = finish(world.resume(&agent, Arc::clone(&desk)).await).await;
            assert_rejected(&world, owner, &result, &desk, &case).await;
            world.assert_clean(&case);
        }
    }
}

#[tokio::test]
async fn rejected_answer_is_not_in_the_conversation() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let agent = agent(&world).output_guardrail(Rejects("wrong"));
        let answers = [answer().message("Hello."), call("c1", "cats"), answer().message("wrong")];
        world.script(answers);
        world.script([answer().message("Better.")]);
        let result = finish(world.start(&agent, world.state(owner), "hi")).await;
        let result = finish(world.start(&agent, result.next_state(), "go")).await;
        assert_eq!(result.end(), &tripped("output"), "{case}");
        assert!(!RunTree(result.state()).to_string().contains("wrong"), "{case}");
        assert!(result.state().usage().requests == 2, "{case}");
        let result = finish(world.start(&agent, result.next_state(), "and?")).await;
        assert_eq!(result.text(), "Better.", "{case}");
        let expected =
            ["user", "assistant", "user", "function_call", "function_call_output", "user"];
        assert_eq!(kinds(&world.last_input()), expected, "{case}");
        world.assert_clean(&case);
    }
}
