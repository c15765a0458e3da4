//! Approvals with every owner of the state, against the strict provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::{DecisionError, End, Pause};
use antiphon_agents::tool::{HostedTool, ToolOutput, output_item};
use antiphon_agents::{Agent, Run, ToolContext, tool};
use serde_json::json;

use crate::world::{OWNERS, Owner, World, advance, answer, finish};

#[derive(Default)]
struct Till {
    paid: AtomicUsize,
}

/// Pays.
#[tool(needs_approval)]
async fn pay(cx: &ToolContext<Till>) -> &'static str {
    cx.context().paid.fetch_add(1, Ordering::Relaxed);
    "paid"
}

/// Pays a sum.
#[tool(needs_approval = |cents| *cents > 100)]
async fn pay_sum(cx: &ToolContext<Till>, cents: u64) -> String {
    cx.context().paid.fetch_add(1, Ordering::Relaxed);
    format!("paid {cents}")
}

/// Pays, but its answer does not arrive.
#[tool(on_unknown = Ask)]
async fn hang(cx: &ToolContext<Till>) -> &'static str {
    cx.context().paid.fetch_add(1, Ordering::Relaxed);
    std::future::pending().await
}

fn agent(world: &World) -> Agent<Till, WithModel> {
    Agent::new("till").tool(pay).tool(pay_sum).tool(hang).model(world.model())
}

fn waiting(run: &Run<Till>) -> Vec<String> {
    run.waiting().iter().map(|pause| pause.call_id().to_owned()).collect()
}

#[tokio::test]
async fn calls_wait_for_approval_by_tool_and_by_arguments() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let calls = answer()
            .call("c1", "pay", "{}")
            .call("c2", "pay_sum", r#"{"cents":100}"#)
            .call("c3", "pay_sum", r#"{"cents":101}"#);
        world.script([calls, answer().message("Done.")]);
        let till = Arc::new(Till::default());
        let mut run = world.start_with(&agent(&world), world.state(owner), "go", Arc::clone(&till));
        advance(&mut run).await;
        assert_eq!(waiting(&run), ["c1", "c3"], "{case}");
        let pause = &run.waiting()[1];
        assert_eq!((pause.tool().as_str(), &*pause.arguments()), ("pay_sum", r#"{"cents":101}"#));
        assert_eq!(run.retry("c1"), Err(DecisionError::WaitsForApproval("c1".into())), "{case}");
        run.reject("c1", "Too much.").unwrap();
        run.approve("c3").unwrap();
        assert_eq!(run.approve("c3"), Err(DecisionError::NotWaiting("c3".into())), "{case}");
        assert_eq!(run.approve("c4"), Err(DecisionError::NoSuchCall("c4".into())), "{case}");
        finish(run).await;
        assert_eq!(till.paid.load(Ordering::Relaxed), 2, "{case}");
        assert_eq!(world.last_output("c1"), "Too much.", "{case}");
        assert_eq!(world.last_output("c3"), "paid 101", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn decision_about_all_calls_survives_a_restart() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let calls = |one, two, three| {
            let calls = answer().call(one, "pay", "{}").call(two, "pay", "{}");
            calls.call(three, "pay_sum", r#"{"cents":999}"#)
        };
        let (first, second) = (calls("c1", "c2", "c3"), calls("c4", "c5", "c6"));
        world.script([first, second, answer().message("Done.")]);
        let till = Arc::new(Till::default());
        let agent = agent(&world);
        let mut run = world.start_with(&agent, world.state(owner), "go", Arc::clone(&till));
        advance(&mut run).await;
        assert_eq!(waiting(&run), ["c1", "c2", "c3"], "{case}");
        run.approve_always("pay");
        run.reject_always("pay_sum", "Never.");
        assert!(waiting(&run).is_empty(), "{case}");
        let json = run.suspend().to_json();
        let run = world.resume_from(&agent, &json, Arc::clone(&till));
        let result = finish(run).await;
        assert_eq!(result.end(), &End::Answered { agent: "till".into() }, "{case}");
        assert_eq!(till.paid.load(Ordering::Relaxed), 4, "{case}");
        assert_eq!(world.last_output("c6"), "Never.", "{case}");
        world.assert_clean(&case);

        // The decision is for one run.
        world.script([answer().call("c7", "pay", "{}")]);
        let mut run = world.start_with(&agent, result.next_state(), "again", till);
        advance(&mut run).await;
        assert_eq!(waiting(&run), ["c7"], "{case}");
    }
}

#[tokio::test]
async fn decision_before_the_run_applies_to_its_calls() {
    let world = World::new().await;
    world.script([answer().call("c1", "pay", "{}"), answer().message("Done.")]);
    let mut run: Run<Till> = world.start(&agent(&world), world.state(Owner::Replay), "go");
    run.approve_always("pay");
    finish(run).await;
    assert_eq!(world.last_output("c1"), "paid");
}

#[tokio::test]
async fn pending_approvals_survive_a_restart() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let calls = answer().call("c1", "pay", "{}").call("c2", "pay", "{}");
        world.script([calls, answer().message("Done.")]);
        let agent = agent(&world);
        let till = Arc::new(Till::default());
        let mut run = world.start_with(&agent, world.state(owner), "go", Arc::clone(&till));
        advance(&mut run).await;
        run.approve("c1").unwrap();
        let json = run.suspend().to_json();
        let mut run = world.resume_from(&agent, &json, Arc::clone(&till));
        if owner == Owner::Session {
            assert_eq!(waiting(&run), ["c2"], "the session is not read yet");
        }
        advance(&mut run).await;
        assert_eq!(waiting(&run), ["c2"], "{case}");
        assert_eq!(till.paid.load(Ordering::Relaxed), 1, "{case}");
        run.reject("c2", "No.").unwrap();
        finish(run).await;
        assert_eq!(till.paid.load(Ordering::Relaxed), 1, "{case}");
        world.assert_clean(&case);
    }
}

/// A state that is resumed twice, as by two workers: the second finds the output in the session.
#[tokio::test]
async fn second_resumption_does_not_run_the_tool_again() {
    let world = World::new().await;
    world.script([answer().call("c1", "pay", "{}"), answer().message("Done.")]);
    world.script([answer().message("It was done.")]);
    let agent = agent(&world);
    let till = Arc::new(Till::default());
    let state = world.state(Owner::Session);
    let mut run = world.start_with(&agent, state, "go", Arc::clone(&till));
    advance(&mut run).await;
    let json = run.suspend().to_json();
    for _ in 0..2 {
        let mut run = world.resume_from(&agent, &json, Arc::clone(&till));
        run.approve("c1").unwrap();
        finish(run).await;
    }
    assert_eq!(till.paid.load(Ordering::Relaxed), 1);
    assert_eq!(outputs(&world), ["paid"]);
    world.assert_clean("resumed twice");
}

/// Another run of the session follows while the first one waits for an approval.
#[tokio::test]
async fn call_that_another_run_has_answered_does_not_run() {
    let world = World::new().await;
    world.script([answer().call("c1", "pay", "{}"), answer().message("Not yet.")]);
    world.script([answer().message("Still not.")]);
    let agent = agent(&world);
    let till = Arc::new(Till::default());
    let state = || world.state(Owner::Session);
    let mut run = world.start_with(&agent, state(), "go", Arc::clone(&till));
    advance(&mut run).await;
    let json = run.suspend().to_json();
    finish(world.start_with(&agent, state(), "Is it paid?", Arc::clone(&till))).await;
    let told = outputs(&world);

    let mut run = world.resume_from(&agent, &json, Arc::clone(&till));
    run.approve("c1").unwrap();
    finish(run).await;
    assert_eq!(till.paid.load(Ordering::Relaxed), 0, "the model was told that it did not run");
    assert_eq!(outputs(&world), told);
    world.assert_clean("another run in between");
}

/// The outputs in the last input.
fn outputs(world: &World) -> Vec<String> {
    let input = world.last_input();
    let outputs = input.iter().filter(|item| item["type"] == "function_call_output");
    outputs.map(|item| item["output"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn supplied_output_settles_an_unknown_outcome() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        world.script([answer().call("c1", "hang", "{}"), answer().message("Done.")]);
        let agent = agent(&world);
        let till = Arc::new(Till::default());
        let mut run = world.start_with(&agent, world.state(owner), "go", Arc::clone(&till));
        while till.paid.load(Ordering::Relaxed) == 0 {
            tokio::select! {
                biased;
                event = run.next() => assert!(event.is_some(), "{case}"),
                () = tokio::task::yield_now() => {}
            }
        }
        // As if the process died: only the stores are left.
        drop(run);

        let mut run = world.resume(&agent, Arc::clone(&till)).await;
        advance(&mut run).await;
        let waiting = run.waiting();
        let [Pause::UnknownOutcome(call)] = waiting.as_slice() else {
            panic!("{case}: {waiting:?}");
        };
        let output = output_item(call, &Ok(ToolOutput::text("paid 7"))).unwrap();
        assert_eq!(run.approve("c1"), Err(DecisionError::OutcomeUnknown("c1".into())), "{case}");
        run.supply("c1", output.clone()).unwrap();
        assert_eq!(run.supply("c1", output), Err(DecisionError::NoSuchCall("c1".into())), "{case}");
        finish(run).await;
        assert_eq!(till.paid.load(Ordering::Relaxed), 1, "{case}");
        assert_eq!(world.last_output("c1"), "paid 7", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn requests_of_hosted_tools_wait_for_approval() {
    for owner in OWNERS {
        for is_always in [false, true] {
            let case = format!("{owner:?}, always: {is_always}");
            let world = World::new().await;
            let request = json!({
                "type": "mcp_approval_request", "server_label": "docs", "name": "delete",
                "arguments": "{}",
            });
            world.script([answer().item(request.clone()), answer().message("Done.")]);
            let hosted = HostedTool::mcp("docs", "https://a.b").with("require_approval", "always");
            let agent = agent(&world).hosted_tool(hosted);
            let mut run: Run<Till> = world.start(&agent, world.state(owner), "go");
            advance(&mut run).await;
            let waiting = waiting(&run);
            assert_eq!(waiting.len(), 1, "{case}");
            let request = &waiting[0];
            match is_always {
                true => run.approve_always("docs.delete"),
                false => run.reject(request, "").unwrap(),
            }
            finish(run).await;
            let input = world.last_input();
            let response = input.last().unwrap();
            assert_eq!(response["type"], "mcp_approval_response", "{case}");
            assert_eq!(response["approve"], is_always, "{case}");
            assert_eq!(response["approval_request_id"], request.as_str(), "{case}");
            world.assert_clean(&case);
        }
    }
}
