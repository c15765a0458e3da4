//! Handoffs with every owner of the state, against the strict provider.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_agents::TeamError;
use antiphon_agents::agent::WithModel;
use antiphon_agents::machine::End;
use antiphon_agents::{Agent, Handoff, Model, Run, RunEvent, State, ToolContext, ToolError, tool};
use antiphon_mock::OnAbort;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::world::{OWNERS, Owner, World, advance, answer, finish, kinds, text};

/// The calls of `on_handoff`, and the outcome that it has.
#[derive(Default)]
struct Desk {
    handoffs: Mutex<Vec<(String, String)>>,
    is_closed: AtomicBool,
    look_ups: AtomicUsize,
}

#[derive(Deserialize, JsonSchema)]
struct Reason {
    reason: String,
}

/// Looks something up.
#[tool]
async fn look_up(cx: &ToolContext<Desk>) -> String {
    cx.context().look_ups.fetch_add(1, Ordering::Relaxed);
    format!("found by {}", cx.agent())
}

async fn record(cx: ToolContext<Desk>, input: Reason) -> Result<(), ToolError> {
    let mut handoffs = cx.context().handoffs.lock().unwrap();
    handoffs.push((cx.call_id().as_str().to_owned(), input.reason));
    match cx.context().is_closed.load(Ordering::Relaxed) {
        true => Err(ToolError::new("billing is closed")),
        false => Ok(()),
    }
}

fn answered_by(agent: &str) -> End {
    End::Answered { agent: agent.into() }
}

fn desk_with(world: &World, handoff: Handoff<Desk>) -> Agent<Desk, WithModel> {
    Agent::new("triage").tool(look_up).handoff(handoff).model(world.model())
}

fn billing() -> Agent<Desk> {
    Agent::new("billing").tool(look_up)
}

#[tokio::test]
async fn function_of_a_handoff_runs_once_with_valid_input() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).on_handoff(record));
        world.script([
            answer().call("c1", "transfer_to_billing", r#"{"cause":"x"}"#),
            answer().call("c2", "transfer_to_billing", r#"{"reason":"a refund"}"#),
            answer().message("Done."),
        ]);
        let desk = Arc::new(Desk::default());
        let mut run = world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk));
        let mut handed_off = 0;
        while let Some(event) = run.next().await {
            handed_off += usize::from(matches!(event, RunEvent::HandedOff { .. }));
        }
        assert_eq!(finish(run).await.end(), &answered_by("billing"), "{case}");
        let handoffs = desk.handoffs.lock().unwrap().clone();
        assert_eq!(handoffs, [("c2".to_owned(), "a refund".to_owned())], "{case}");
        assert_eq!(handed_off, 1);
        assert!(world.last_output("c1").contains("`reason`"), "{case}");
        assert_eq!(world.last_output("c2"), "Transferred to billing.", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn failed_function_keeps_the_agent() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).on_handoff(record).nested());
        let call = answer().call("c1", "transfer_to_billing", r#"{"reason":"x"}"#);
        world.script([call, answer().message("Sorry.")]);
        let desk = Desk { is_closed: true.into(), ..Desk::default() };
        let run = world.start_with(&triage, world.state(owner), "go", Arc::new(desk));
        assert_eq!(finish(run).await.end(), &answered_by("triage"), "{case}");
        assert_eq!(world.last_output("c1"), "billing is closed", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn interrupted_function_does_not_run_again() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).on_handoff(record));
        let call = |id| answer().call(id, "transfer_to_billing", r#"{"reason":"x"}"#);
        world.script([call("c1"), call("c2"), answer().message("Done.")]);
        let desk = Arc::new(Desk::default());
        let mut run = world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk));
        while let Some(event) = run.next().await {
            if matches!(event, RunEvent::ToolStarted(_)) {
                break;
            }
        }
        drop(run);
        let result = finish(world.resume(&triage, Arc::clone(&desk)).await).await;
        assert_eq!(result.end(), &answered_by("billing"), "{case}");
        let ids: Vec<_> = desk.handoffs.lock().unwrap().iter().map(|it| it.0.clone()).collect();
        assert!(ids == ["c1", "c2"] || ids == ["c2"], "{case}: {ids:?}");
        assert!(world.last_output("c1").contains("outcome is unknown"), "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn nested_history_is_one_message() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).nested());
        let calls = answer().reasoning("Hm.").call("c1", "look_up", "{}");
        let both = answer().call("c2", "transfer_to_billing", "{}").call("c3", "look_up", "{}");
        world.script([calls, both, answer().message("Done."), answer().message("More.")]);
        let result = finish(world.start(&triage, world.state(owner), "my \"money\"")).await;
        let input = world.last_input();
        assert_eq!(kinds(&input), ["user"], "{case}: {input:#?}");
        let lines: Vec<_> = text(&input[0]).lines().skip(2).map(str::to_owned).collect();
        let expected = [
            r#"user: "my \"money\"""#,
            r#"call c1 of look_up: "{}""#,
            r#"output of c1: "found by triage""#,
            r#"call c2 of transfer_to_billing: "{}""#,
            r#"call c3 of look_up: "{}""#,
            r#"output of c2: "Transferred to billing.""#,
            r#"output of c3: "found by triage""#,
            "</conversation>",
        ];
        assert_eq!(lines, expected, "{case}");
        assert_eq!(result.state().forks().len(), usize::from(owner.is_server()), "{case}");
        // The history that the application stores is whole.
        if !owner.is_server() {
            let result = finish(world.start(&triage, result.next_state(), "and?")).await;
            assert_eq!(result.text(), "More.");
            assert_eq!(text(&world.last_input()[0]), "my \"money\"", "{case}");
            assert_eq!(world.last_input().len(), 10, "{case}");
        }
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn nested_handoff_waits_for_approvals_and_survives_a_restart() {
    /// Pays.
    #[tool(needs_approval)]
    async fn pay() -> &'static str {
        "paid"
    }
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).nested()).tool(pay);
        let both = answer().call("c1", "transfer_to_billing", "{}").call("c2", "pay", "{}");
        world.script([both, answer().message("Done.")]);
        let mut run = world.start(&triage, world.state(owner), "go");
        advance(&mut run).await;
        let json = run.suspend().to_json();
        let mut run = world.resume_from(&triage, &json, Arc::default());
        advance(&mut run).await;
        run.approve("c2").unwrap();
        assert_eq!(finish(run).await.end(), &answered_by("billing"), "{case}");
        let input = world.last_input();
        assert_eq!(kinds(&input), ["user"], "{case}");
        assert!(text(&input[0]).contains(r#"output of c2: "paid""#), "{case}: {input:#?}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn tools_can_be_removed() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let triage = desk_with(&world, Handoff::to(&billing()).remove_tools());
        let first = answer().reasoning("Hm.").message("One moment.").call("c1", "look_up", "{}");
        let second = answer().call("c2", "transfer_to_billing", "{}");
        world.script([first, second, answer().message("Done.")]);
        finish(world.start(&triage, world.state(owner), "go")).await;
        assert_eq!(kinds(&world.last_input()), ["user", "assistant"], "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn agents_hand_over_to_each_other_by_name() {
    for owner in OWNERS {
        for is_nested in [false, true] {
            let case = format!("{owner:?}, nested: {is_nested}");
            let world = World::new().await;
            let back = Handoff::to_name("triage");
            let back = if is_nested { back.nested() } else { back };
            let billing = billing().handoff(back);
            let there = Handoff::to(&billing);
            let there = if is_nested { there.nested() } else { there };
            let triage = desk_with(&world, there);
            world.script([
                answer().call("c1", "transfer_to_billing", "{}"),
                answer().call("c2", "transfer_to_triage", "{}"),
                answer().call("c3", "transfer_to_billing", "{}").call("c4", "look_up", "{}"),
                answer().message("Done."),
            ]);
            let result = finish(world.start(&triage, world.state(owner), "go")).await;
            assert_eq!(result.end(), &answered_by("billing"), "{case}");
            let agents: Vec<_> =
                result.state().answers().iter().map(|it| it.agent.as_str()).collect();
            assert_eq!(agents, ["triage", "billing", "triage", "billing"], "{case}");
            if is_nested {
                let text = text(&world.last_input()[0]);
                assert_eq!(text.matches("<conversation>").count(), 1, "{case}: {text}");
                assert_eq!(text.matches("Transferred to").count(), 3, "{case}: {text}");
                assert!(text.contains("found by triage"), "{case}: {text}");
            } else {
                assert_eq!(world.last_output("c4"), "found by triage", "{case}");
            }
            world.assert_clean(&case);
        }
    }
}

#[tokio::test]
async fn resumed_run_knows_agents_by_name() {
    let world = World::new().await;
    let billing = billing().handoff_to("triage");
    let triage = desk_with(&world, Handoff::to(&billing));
    let there = answer().call("c1", "transfer_to_billing", "{}");
    world.script([there, answer().call("c2", "transfer_to_triage", "{}")]);
    let mut run = world.start(&triage, State::empty(), "go");
    while let Some(event) = run.next().await {
        if matches!(&event, RunEvent::HandedOff { to, .. } if to == "triage") {
            break;
        }
    }
    let json = run.suspend().to_json();
    world.script([answer().message("Done.")]);
    let result = finish(world.resume_from(&triage, &json, Arc::default())).await;
    assert_eq!(result.end(), &answered_by("triage"));
}

#[tokio::test]
async fn unknown_name_is_an_error() {
    let agent = Agent::<(), _>::new("triage").handoff_to("biling").model(Model::scripted(["x"]));
    let error = Run::start(&agent, State::empty(), "go").unwrap_err();
    let expected = TeamError::UnknownTarget { agent: "triage".into(), target: "biling".into() };
    assert_eq!(error, expected);
    assert!(error.to_string().contains("correct the name"), "{error}");
}

#[tokio::test]
async fn invalid_name_of_a_handoff_is_an_error() {
    let billing = Agent::<(), _>::new("billing");
    let handoff = Handoff::to(&billing).name("not a name");
    let agent = Agent::new("triage").handoff(handoff).model(Model::scripted(["x"]));
    assert!(matches!(Run::start(&agent, State::empty(), "go"), Err(TeamError::Tool(_))));
}

#[tokio::test]
async fn disabled_handoff_is_not_offered_and_not_made() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let is_open = |desk: &Desk| !desk.is_closed.load(Ordering::Relaxed);
        let billing = billing();
        let triage = desk_with(&world, Handoff::to(&billing).enabled_if(is_open));
        let never = Handoff::to(&billing).name("never").enabled(false);
        let triage = triage.handoff(never);
        let call = |id| answer().call(id, "transfer_to_billing", "{}");
        let first = answer().call("c1", "never", "{}");
        world.script([first, call("c2"), answer().message("Done.")]);
        let desk = Arc::new(Desk { is_closed: true.into(), ..Desk::default() });
        let mut run = world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk));
        while let Some(event) = run.next().await {
            if matches!(event, RunEvent::ToolEnded { .. }) {
                desk.is_closed.store(false, Ordering::Relaxed);
            }
        }
        assert_eq!(finish(run).await.end(), &answered_by("billing"), "{case}");
        assert!(world.last_output("c1").contains("not available"), "{case}");
        let offered: Vec<Vec<_>> = world.provider.turns()[..2]
            .iter()
            .map(|turn| turn.body["tools"].as_array().unwrap().clone())
            .map(|tools| tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect())
            .collect();
        assert_eq!(offered[0], ["look_up"], "{case}");
        assert_eq!(offered[1], ["look_up", "transfer_to_billing"], "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn first_of_several_handoffs_is_made() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let sales = Agent::new("sales");
        let first = Handoff::to(&billing()).on_handoff(record);
        let triage = desk_with(&world, first).handoff(&sales);
        let calls = answer()
            .call("c1", "transfer_to_billing", r#"{"reason":"x"}"#)
            .call("c2", "transfer_to_sales", "{}")
            .call("c3", "transfer_to_billing", r#"{"reason":"y"}"#);
        world.script([calls, answer().message("Done.")]);
        let desk = Arc::new(Desk::default());
        let run = world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk));
        assert_eq!(finish(run).await.end(), &answered_by("billing"), "{case}");
        assert_eq!(desk.handoffs.lock().unwrap().len(), 1, "{case}");
        for call in ["c2", "c3"] {
            let output = world.last_output(call);
            assert!(output.contains("Another handoff was made first"), "{case}: {output}");
        }
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn parallel_call_runs_the_tool_of_the_agent_that_made_it() {
    /// Says its agent.
    #[tool(name = "look_up")]
    async fn other_look_up() -> &'static str {
        "found by another tool"
    }
    for owner in OWNERS {
        let world = World::new().await;
        let billing = Agent::new("billing").tool(other_look_up);
        let triage = desk_with(&world, Handoff::to(&billing));
        let both = answer().call("c1", "transfer_to_billing", "{}").call("c2", "look_up", "{}");
        world.script([both, answer().message("Done.")]);
        finish(world.start(&triage, world.state(owner), "go")).await;
        assert_eq!(world.last_output("c2"), "found by triage", "{owner:?}");
        world.assert_clean("");
    }
}

#[tokio::test]
async fn handoffs_of_one_name_use_their_own_filters() {
    let world = World::new().await;
    let last = Agent::new("last");
    let second = Agent::new("second").handoff(Handoff::to(&last).name("next").nested());
    let first = Agent::<(), _>::new("first");
    let first = first.handoff(Handoff::to(&second).name("next").remove_tools());
    let first = first.model(world.model());
    let call = |id| answer().call(id, "next", "{}");
    world.script([call("c1"), call("c2"), answer().message("Done.")]);
    finish(world.start(&first, State::empty(), "go")).await;
    assert_eq!(text(&world.input(1)[0]), "go");
    assert!(text(&world.input(2)[0]).contains("<conversation>"));
}

/// Drops a run after so many events. Returns whether it had not ended.
async fn drop_after(mut run: Run<Desk>, events: usize) -> bool {
    for _ in 0..events {
        if matches!(run.next().await, None | Some(RunEvent::Ended(_))) {
            return false;
        }
    }
    true
}

/// Interrupts a run after every number of events, with each outcome of an abort in turn, and
/// continues it in another process.
async fn interrupt_everywhere(owner: Owner) {
    let outcomes = [OnAbort::StorePart, OnAbort::StoreWhole, OnAbort::StoreNothing];
    for (events, on_abort) in (1..).zip(outcomes.into_iter().cycle()) {
        let case = format!("{owner:?} {on_abort:?}, after {events} events");
        let world = World::with_abort(on_abort).await;
        let billing = billing().handoff(Handoff::to_name("triage").nested());
        let triage = desk_with(&world, Handoff::to(&billing).on_handoff(record).nested());
        let there = answer().call("c1", "transfer_to_billing", r#"{"reason":"x"}"#);
        world.script([
            there.call("c2", "look_up", "{}"),
            answer().reasoning("Hm.").call("c3", "look_up", "{}"),
            answer().call("c4", "transfer_to_triage", "{}"),
            answer().message("Done."),
        ]);
        let desk = Arc::new(Desk::default());
        let run = world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk));
        if !drop_after(run, events).await {
            assert!(events > 15, "{case}");
            return;
        }
        world.provider.wait_until_idle().await;
        world.script([answer().message("Done."), answer().message("Done.")]);
        let run = match world.sessions.run("run").await.unwrap() {
            Some(json) => world.resume_from(&triage, &json, Arc::clone(&desk)),
            None => world.start_with(&triage, world.state(owner), "go", Arc::clone(&desk)),
        };
        let result = finish(run).await;
        assert!(matches!(result.end(), End::Answered { .. }), "{case}: {:?}", result.end());
        let input = world.last_input();
        let texts = input.iter().filter(|item| item["role"] == "user").map(text);
        let count = |text: String| match text == "go" {
            true => 1,
            false => text.lines().filter(|line| *line == r#"user: "go""#).count(),
        };
        assert_eq!(texts.map(count).sum::<usize>(), 1, "{case}: {input:#?}");
        let mut ids: Vec<_> = desk.handoffs.lock().unwrap().iter().map(|it| it.0.clone()).collect();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "{case}: {ids:?}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn interrupted_handoffs_of_a_replay_lose_nothing() {
    interrupt_everywhere(Owner::Replay).await;
}

#[tokio::test]
async fn interrupted_handoffs_of_a_session_lose_nothing() {
    interrupt_everywhere(Owner::Session).await;
}

#[tokio::test]
async fn interrupted_handoffs_of_a_conversation_lose_nothing() {
    interrupt_everywhere(Owner::Conversation).await;
}

#[tokio::test]
async fn interrupted_handoffs_of_a_chain_lose_nothing() {
    interrupt_everywhere(Owner::Chain).await;
}
