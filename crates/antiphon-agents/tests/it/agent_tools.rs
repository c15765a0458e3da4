//! Agents as tools, with every owner of the outer state, against the strict provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::End;
use antiphon_agents::model::{ScriptedAnswer, ScriptedBackend, Usage};
use antiphon_agents::roster::{Limits, StopRule};
use antiphon_agents::rules::CancelMode;
use antiphon_agents::{Agent, Model, Run, RunEvent, State, ToolContext, tool};
use antiphon_mock::Answer;
use serde_json::json;
use tokio::sync::Notify;

use crate::world::{OWNERS, Owner, World, advance, answer, finish, kinds, text};

#[derive(Default)]
struct Till {
    paid: AtomicUsize,
    is_waiting: Notify,
    dropped: AtomicUsize,
}

/// Pays.
#[tool(needs_approval)]
async fn pay(cx: &ToolContext<Till>) -> &'static str {
    cx.context().paid.fetch_add(1, Ordering::Relaxed);
    "paid"
}

/// Waits forever.
#[tool]
async fn hang(cx: ToolContext<Till>) -> &'static str {
    struct Dropped(Arc<Till>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
    let _dropped = Dropped(cx.shared());
    cx.context().is_waiting.notify_one();
    std::future::pending().await
}

/// An agent that calls another one, which can pay.
fn agents(world: &World) -> Agent<Till, WithModel> {
    let cashier = Agent::new("cashier").tool(pay).tool(hang).model(world.model());
    let tool = cashier.as_tool("ask_cashier", "Pays a bill.");
    Agent::new("clerk").tool(tool).model(world.model())
}

fn ask(call_id: &str, input: &str) -> Answer {
    answer().call(call_id, "ask_cashier", json!({"input": input}).to_string())
}

fn waiting(run: &Run<Till>) -> Vec<String> {
    run.waiting().iter().map(|pause| pause.call_id().to_owned()).collect()
}

#[tokio::test]
async fn agent_answers_a_call_with_a_state_of_its_own() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let inner = answer().message("The bill is paid.");
        world.script([ask("c1", "Pay the bill."), inner, answer().message("Done.")]);
        let run = world.start(&agents(&world), world.state(owner), "the bill, please");
        assert_eq!(finish(run).await.text(), "Done.", "{case}");
        assert_eq!(kinds(&world.input(1)), ["user"], "{case}");
        assert_eq!(text(&world.input(1)[0]), "Pay the bill.", "{case}");
        assert_eq!(world.last_output("c1"), "The bill is paid.", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn agent_that_cannot_run_as_a_tool_is_an_error_at_the_start() {
    let model = || Model::scripted(["Hi."]);
    let helper = Agent::<()>::new("helper").handoff_to("nobody").model(model());
    let outer = Agent::new("outer").tool(helper.as_tool("ask", "")).model(model());
    let nested = Agent::new("a").tool(outer.as_tool("ask_outer", "")).model(model());
    let error = Run::start(&nested, State::empty(), "go").unwrap_err().to_string();
    let reason = "the agent in the tool 'ask_outer' cannot run: the agent in the tool 'ask' cannot \
                  run: the agent 'helper' hands over to 'nobody'";
    assert!(error.starts_with(reason), "{error}");
}

#[tokio::test]
async fn tokens_of_the_inner_run_count() {
    let tokens = |input_tokens| Usage { input_tokens, ..Usage::default() };
    let inner = ScriptedBackend::new([ScriptedAnswer::new().text("Yes.").usage(tokens(10))]);
    let call = ScriptedAnswer::new().call("c1", "ask", json!({"input": "?"})).usage(tokens(1));
    let outer = ScriptedBackend::new([call, ScriptedAnswer::new().text("Done.").usage(tokens(2))]);
    let expert = Agent::<()>::new("expert").model(Model::new("m", inner));
    let agent = Agent::new("a").tool(expert.as_tool("ask", "")).model(Model::new("m", outer));
    let result = finish(Run::start(&agent, State::empty(), "go").unwrap()).await;
    let usage = result.usage();
    assert_eq!((usage.requests, usage.input_tokens), (3, 13));
}

#[tokio::test]
async fn approvals_of_the_inner_run_survive_restarts() {
    for owner in OWNERS {
        for journal in [false, true] {
            let case = format!("{owner:?}, journal: {journal}");
            let world = World::new().await;
            let agents = agents(&world);
            let pays = |one, two| answer().call(one, "pay", "{}").call(two, "pay", "{}");
            world.script([
                ask("c1", "Pay."),
                pays("i1", "i2"),
                pays("i3", "i4"),
                answer().message("Paid."),
                answer().message("Done."),
            ]);
            let till = Arc::new(Till::default());
            let state = world.state(owner);
            let mut run = world.start_with(&agents, state, "go", Arc::clone(&till));
            advance(&mut run).await;
            assert_eq!(waiting(&run), ["i1", "i2"], "{case}");
            if journal {
                drop(run);
                run = world.resume(&agents, Arc::clone(&till)).await;
                advance(&mut run).await;
            }
            run.approve("i1").unwrap();
            assert_eq!(waiting(&run), ["i2"], "{case}");
            let json = run.suspend().to_json();
            let mut run = world.resume_from(&agents, &json, Arc::clone(&till));
            run.reject("i2", "No.").unwrap();
            assert!(run.approve("i2").is_err(), "{case}");
            advance(&mut run).await;
            assert_eq!(till.paid.load(Ordering::Relaxed), 1, "{case}");
            assert_eq!(waiting(&run), ["i3", "i4"], "{case}");
            run.approve_always("pay");
            let result = finish(run).await;
            assert_eq!(result.text(), "Done.", "{case}");
            assert_eq!(till.paid.load(Ordering::Relaxed), 3, "{case}");
            assert_eq!(world.last_output("c1"), "Paid.", "{case}");
            assert_eq!(result.usage().requests, 5, "{case}");
            world.assert_clean(&case);
        }
    }
}

#[tokio::test]
async fn standing_approval_of_the_outer_run_holds_inside() {
    let world = World::new().await;
    let inner = answer().call("i1", "pay", "{}");
    world.script([ask("c1", "Pay."), inner, answer().message("Paid."), answer().message("Done.")]);
    let mut run: Run<Till> = world.start(&agents(&world), State::empty(), "go");
    run.approve_always("pay");
    assert_eq!(finish(run).await.text(), "Done.");
}

#[tokio::test]
async fn two_inner_runs_wait_at_the_same_time() {
    let world = World::new().await;
    let cashier = |id: &str| {
        let script = ScriptedBackend::new([
            ScriptedAnswer::new().call(id, "pay", json!({})),
            format!("{id} paid.").as_str().into(),
        ]);
        Agent::<Till>::new("cashier").tool(pay).model(Model::new("m", script))
    };
    let agent = Agent::new("clerk").tool(cashier("i1").as_tool("one", ""));
    let agent = agent.tool(cashier("i2").as_tool("two", "")).model(world.model());
    let input = json!({"input": "Pay."}).to_string();
    let both = answer().call("c1", "one", input.clone()).call("c2", "two", input);
    world.script([both, answer().message("Done.")]);
    let mut run: Run<Till> = world.start(&agent, world.state(Owner::Session), "go");
    advance(&mut run).await;
    assert_eq!(waiting(&run), ["i1", "i2"]);
    run.approve("i2").unwrap();
    advance(&mut run).await;
    assert_eq!(waiting(&run), ["i1"]);
    run.approve("i1").unwrap();
    finish(run).await;
    assert_eq!(
        (world.last_output("c1"), world.last_output("c2")),
        ("i1 paid.".into(), "i2 paid.".into())
    );
    world.assert_clean("");
}

#[tokio::test]
async fn approvals_come_through_two_levels() {
    let world = World::new().await;
    let agents = agents(&world);
    let boss = Agent::new("boss").tool(agents.as_tool("ask_clerk", "")).model(world.model());
    world.script([
        answer().call("b1", "ask_clerk", json!({"input": "Pay."}).to_string()),
        ask("c1", "Pay."),
        answer().call("i1", "pay", "{}"),
        answer().message("Paid."),
        answer().message("It is paid."),
        answer().message("Done."),
    ]);
    let till = Arc::new(Till::default());
    let mut run = world.start_with(&boss, State::empty(), "go", Arc::clone(&till));
    advance(&mut run).await;
    assert_eq!(waiting(&run), ["i1"]);
    let json = run.suspend().to_json();
    let mut run = world.resume_from(&boss, &json, Arc::clone(&till));
    run.approve("i1").unwrap();
    let result = finish(run).await;
    assert_eq!(result.usage().requests, 6);
    assert_eq!(world.last_output("b1"), "It is paid.");
    assert_eq!(till.paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn cancelled_run_cancels_the_inner_one() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        world.script([ask("c1", "Wait."), answer().call("i1", "hang", "{}")]);
        let agents = agents(&world);
        let till = Arc::new(Till::default());
        let mut run = world.start_with(&agents, world.state(owner), "go", Arc::clone(&till));
        loop {
            tokio::select! {
                biased;
                event = run.next() => assert!(event.is_some(), "{case}"),
                () = till.is_waiting.notified() => break,
            }
        }
        run.cancel(CancelMode::Immediate);
        let result = finish(run).await;
        assert_eq!(result.end(), &End::Cancelled, "{case}");
        // A cancelled task of the inner run is dropped by the runtime.
        while till.dropped.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(result.items().last().unwrap().text().contains("outcome is unknown"), "{case}");
        assert_eq!(result.usage().requests, 2, "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn cancelled_run_closes_a_call_whose_inner_run_waits() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        world.script([
            ask("c1", "Pay."),
            answer().call("i1", "pay", "{}"),
            answer().message("Ok."),
        ]);
        let agents = agents(&world);
        let mut run: Run<Till> = world.start(&agents, world.state(owner), "go");
        advance(&mut run).await;
        run.cancel(CancelMode::Immediate);
        let result = finish(run).await;
        assert_eq!(result.end(), &End::Cancelled, "{case}");
        let run: Run<Till> = world.start(&agents, result.next_state(), "again");
        assert_eq!(finish(run).await.text(), "Ok.", "{case}");
        assert!(world.last_output("c1").contains("cancelled"), "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn end_of_the_inner_run_without_an_answer_is_an_error() {
    /// Pays at once.
    #[tool]
    async fn pay_now() -> &'static str {
        "paid"
    }
    let call = || ScriptedAnswer::new().call("i1", "pay_now", json!({}));
    for (stop, expected) in [
        (StopRule::FirstCalls, "paid"),
        (StopRule::Never, "The agent 'inner' did not finish: stopped after 1 turns."),
    ] {
        let inner = Agent::<()>::new("inner").tool(pay_now).stop_at(stop);
        let inner = inner.model(Model::new("m", ScriptedBackend::new([call()])));
        let limits = Limits { turns: 1, ..Limits::default() };
        let world = World::new().await;
        let agent = Agent::new("a").tool(inner.as_tool("ask_cashier", "").limits(limits));
        let agent = agent.model(world.model());
        world.script([ask("c1", "Pay."), answer().message("Done.")]);
        finish(world.start(&agent, State::empty(), "go")).await;
        assert_eq!(world.last_output("c1"), expected);
    }
}

#[tokio::test]
async fn events_of_the_inner_run_are_not_those_of_the_outer_one() {
    let world = World::new().await;
    let inner = answer().message("The bill is paid.");
    world.script([ask("c1", "Pay."), inner, answer().message("Done.")]);
    let mut run: Run<Till> = world.start(&agents(&world), State::empty(), "go");
    let mut text = String::new();
    let mut tools = 0;
    while let Some(event) = run.next().await {
        text += event.text().unwrap_or_default();
        tools += usize::from(matches!(event, RunEvent::ToolEnded { .. }));
    }
    assert_eq!((text.as_str(), tools), ("Done.", 1));
}

#[tokio::test]
async fn interrupted_inner_runs_repeat_no_call() {
    for owner in OWNERS {
        for events in 1.. {
            let case = format!("{owner:?}, after {events} events");
            let world = World::new().await;
            let agents = agents(&world);
            world.script([
                ask("c1", "Pay."),
                answer().call("i1", "pay", "{}"),
                answer().message("Paid."),
                answer().message("Done."),
            ]);
            let till = Arc::new(Till::default());
            let mut run = world.start_with(&agents, world.state(owner), "go", Arc::clone(&till));
            run.approve_always("pay");
            let mut has_ended = false;
            for _ in 0..events {
                has_ended |= matches!(run.next().await, None | Some(RunEvent::Ended(_)));
            }
            drop(run);
            if has_ended {
                assert!(events > 5, "{case}");
                break;
            }
            world.provider.wait_until_idle().await;
            let mut run = match world.sessions.run("run").await.unwrap() {
                Some(json) => world.resume_from(&agents, &json, Arc::clone(&till)),
                None => world.start_with(&agents, world.state(owner), "go", Arc::clone(&till)),
            };
            run.approve_always("pay");
            let result = finish(run).await;
            assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
            assert!(till.paid.load(Ordering::Relaxed) <= 1, "{case}");
            world.assert_clean(&case);
        }
    }
}
