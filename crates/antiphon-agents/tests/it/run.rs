//! Runs with a scripted model and real tools.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use antiphon::Item;
use antiphon_agents::TeamError;
use antiphon_agents::machine::{End, RunState};
use antiphon_agents::model::{Answered, Model, ModelRequest, ScriptedAnswer, ScriptedBackend};
use antiphon_agents::roster::StopRule;
use antiphon_agents::rules::CancelMode;
use antiphon_agents::session::{MemorySessions, SessionStore};
use antiphon_agents::{
    Agent, Compaction, Handoff, HookError, Hooks, Run, RunError, RunEvent, RunTree, State,
    ToolContext, ToolError, tool,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Default)]
struct Shop {
    refunded: AtomicU64,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
struct Refund {
    order: String,
    cents: u64,
}

/// Refunds an order.
#[tool(needs_approval = |wanted: &Refund| wanted.cents > 5_000)]
async fn refund(cx: &ToolContext<Shop>, wanted: Refund) -> Result<String, ToolError> {
    cx.context().refunded.fetch_add(wanted.cents, Ordering::Relaxed);
    Ok(format!("refunded {}", wanted.order))
}

/// Fails.
#[tool]
async fn broken(cx: &ToolContext<Shop>) -> Result<String, ToolError> {
    Err(ToolError::new(format!("{} is broken", cx.tool())))
}

/// Panics.
#[tool]
async fn panicking(cx: &ToolContext<Shop>) -> Result<String, ToolError> {
    assert!(cx.tool().is_empty(), "a tool of the test panics");
    Ok(String::new())
}

fn calls_refund(call_id: &str, cents: u64) -> ScriptedAnswer {
    ScriptedAnswer::new().call(call_id, "refund", json!({"order": "A1", "cents": cents}))
}

fn agent(script: &ScriptedBackend) -> Agent<Shop, antiphon_agents::agent::WithModel> {
    let agent = Agent::new("billing").instructions("You refund orders.");
    agent.tool(refund).tool(broken).tool(panicking).model(Model::new("m", script.clone()))
}

#[tokio::test]
async fn tool_runs_and_the_model_reads_its_output() {
    let script = ScriptedBackend::new([calls_refund("c1", 100), "Done.".into()]);
    let shop = Arc::new(Shop::default());
    let run = Run::start_with(&agent(&script), State::empty(), "refund A1", Arc::clone(&shop));
    let result = run.unwrap().finish().await.unwrap();
    assert_eq!(result.text(), "Done.");
    assert_eq!(shop.refunded.load(Ordering::Relaxed), 100);
    let requests = script.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].items.last().unwrap().text().contains("refunded A1"));
    assert_eq!(result.next_input().len(), 4);
}

#[tokio::test]
async fn approval_survives_a_restart() {
    let script = ScriptedBackend::new([calls_refund("c1", 9_000), "Done.".into()]);
    let shop = Arc::new(Shop::default());
    let sessions: Arc<dyn SessionStore> = Arc::new(MemorySessions::new());
    let state = State::shared_session(Arc::clone(&sessions), "user-7");
    let mut run = Run::start_with(&agent(&script), state, "refund A1", Arc::clone(&shop)).unwrap();
    let mut last = None;
    while let Some(event) = run.next().await {
        last = Some(event);
    }
    assert!(matches!(last, Some(RunEvent::Waiting(pauses)) if pauses.len() == 1));
    let json = run.suspend().to_json();

    let state = RunState::read(&json).unwrap();
    let run = Run::resume(&agent(&script), state, Some(Arc::clone(&sessions)), Arc::clone(&shop));
    let mut run = run.unwrap();
    run.approve("c1").unwrap();
    let result = run.finish().await.unwrap();
    assert_eq!(result.text(), "Done.");
    assert_eq!(shop.refunded.load(Ordering::Relaxed), 9_000);
    assert_eq!(sessions.load("user-7").await.unwrap().items.len(), 4);
}

#[tokio::test]
async fn run_is_not_resumed_with_another_empty_store() {
    let script = ScriptedBackend::new([calls_refund("c1", 9_000), "Done.".into()]);
    let state = State::session(MemorySessions::new(), "user-7");
    let mut run = Run::start_with(&agent(&script), state, "go", Shop::default()).unwrap();
    while run.next().await.is_some() {}
    let other: Arc<dyn SessionStore> = Arc::new(MemorySessions::new());
    let store = Some(Arc::clone(&other));
    let run = Run::resume(&agent(&script), run.suspend(), store, Shop::default()).unwrap();
    let result = run.finish().await;
    assert!(matches!(result, Err(RunError::EmptySession(key)) if key == "user-7"));
    assert!(other.load("user-7").await.unwrap().items.is_empty());
}

#[tokio::test]
async fn waiting_run_has_no_result() {
    let script = ScriptedBackend::new([calls_refund("c1", 9_000)]);
    let run = Run::start_with(&agent(&script), State::empty(), "go", Shop::default()).unwrap();
    assert!(matches!(run.finish().await, Err(RunError::Waiting(call)) if call == "c1"));
}

#[tokio::test]
async fn finish_fails_if_the_run_has_no_answer() {
    for is_cancelled in [false, true] {
        let script = ScriptedBackend::new(Vec::<ScriptedAnswer>::new());
        let run = Run::start_with(&agent(&script), State::empty(), "go", Shop::default());
        let mut run = run.unwrap();
        if is_cancelled {
            run.cancel(CancelMode::Immediate);
        }
        let end = if is_cancelled { "cancelled" } else { "failed: " };
        let error = run.finish().await.unwrap_err();
        let expected = format!("the run ended without an answer: {end}");
        assert!(error.to_string().starts_with(&expected), "{error}");
        // A program prints this text if its `main` returns the error.
        assert_eq!(format!("{error:?}"), error.to_string());
        let RunError::NoAnswer(result) = error else { panic!("{error:?}") };
        assert!(result.next_input().iter().any(|item| item.text().contains("go")), "{result:?}");
    }
}

#[tokio::test]
async fn errors_and_panics_of_tools_are_outputs() {
    let answer = ScriptedAnswer::new()
        .call("c1", "broken", json!({}))
        .call("c2", "panicking", json!({}))
        .call("c3", "unknown", json!({}))
        .call("c4", "refund", json!({"order": "A1"}));
    let script = ScriptedBackend::new([answer, "I see.".into()]);
    let run = Run::start_with(&agent(&script), State::empty(), "go", Shop::default()).unwrap();
    run.finish().await.unwrap();
    let items = script.requests()[1].items.clone();
    let outputs: Vec<_> = items[5..].iter().map(|item| item.text().to_owned()).collect();
    assert!(outputs[0].contains("broken is broken"), "{outputs:?}");
    assert!(outputs[1].contains("failed unexpectedly"));
    assert!(outputs[2].contains("no tool with the name"));
    assert!(outputs[3].contains("cents"));
}

#[tokio::test]
async fn session_continues_in_the_next_run() {
    let script = ScriptedBackend::new(["Hi.", "Again."]);
    let sessions = MemorySessions::new();
    for text in ["one", "two"] {
        let state = State::session(sessions.clone(), "s");
        let run = Run::start_with(&agent(&script), state, text, Shop::default()).unwrap();
        run.finish().await.unwrap();
    }
    assert_eq!(script.requests()[1].items.len(), 3);
}

#[tokio::test]
async fn dropped_run_leaves_a_session_that_continues() {
    let script = ScriptedBackend::new([calls_refund("c1", 1), "Fine.".into()]);
    let sessions = MemorySessions::new();
    let state = State::session(sessions.clone(), "s");
    let mut run = Run::start_with(&agent(&script), state, "go", Shop::default()).unwrap();
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ToolStarted(_)) {
            break;
        }
    }
    drop(run);
    let state = State::session(sessions.clone(), "s");
    let run = Run::start_with(&agent(&script), state, "still there?", Shop::default()).unwrap();
    assert_eq!(run.finish().await.unwrap().text(), "Fine.");
    let items = script.requests()[1].items.clone();
    assert!(items[2].text().contains("outcome is unknown"), "{items:#?}");
    assert!(items[3].text().contains("still there?"));
}

#[tokio::test]
async fn handoff_passes_the_conversation() {
    let answer = ScriptedAnswer::new().call("c1", "transfer_to_billing", json!({}));
    let script = ScriptedBackend::new([answer, "Billing here.".into()]);
    let billing = Agent::<(), _>::new("billing").instructions("Bill.");
    let handoff = Handoff::to(&billing).filter(|items| items.into_iter().take(1).collect());
    let triage = Agent::new("triage").handoff(handoff).model(Model::new("m", script.clone()));
    let mut run = Run::start(&triage, State::empty(), "help").unwrap();
    let mut hands_over = false;
    while let Some(event) = run.next().await {
        hands_over |= matches!(event, RunEvent::HandedOff { to, .. } if to == "billing");
    }
    assert!(hands_over);
    let result = run.finish().await.unwrap();
    assert_eq!(result.agent(), "billing");
    assert_eq!(script.requests()[1].items.len(), 1);
    assert_eq!(script.requests()[1].instructions.as_deref(), Some("Bill."));
    let tree = RunTree(result.state()).to_string();
    let expected = "run\n\
        ├─ user: help\n\
        ├─ triage (0 tokens)\n\
        │  └─ transfer_to_billing(c1)\n\
        ├─ output of c1: Transferred to billing.\n\
        ├─ billing (0 tokens)\n\
        │  └─ assistant: Billing here.\n\
        └─ end: answered by billing";
    assert_eq!(tree, expected);
    assert_eq!(result.next_input().len(), 4, "the history is whole");
}

#[tokio::test]
async fn output_type_is_checked_and_corrected_once() {
    let answers = [r#"{"order":"A1"}"#, r#"{"order":"A1","cents":5}"#];
    let script = ScriptedBackend::new(answers);
    let agent = Agent::new("a").output::<Refund>().model(Model::new("m", script.clone()));
    let result = Run::start(&agent, State::empty(), "go").unwrap().finish().await.unwrap();
    assert_eq!(result.output::<Refund>().unwrap(), Refund { order: "A1".into(), cents: 5 });
    assert_eq!(script.requests().len(), 2);

    let script = ScriptedBackend::new(["no", "still no"]);
    let agent = Agent::new("a").output::<Refund>().model(Model::new("m", script));
    let result = Run::start(&agent, State::empty(), "go").unwrap().into_result().await.unwrap();
    assert!(matches!(result.end(), End::Failed { .. }), "{:?}", result.end());
}

#[tokio::test]
async fn cancelled_run_ends_with_outputs() {
    let script = ScriptedBackend::new([calls_refund("c1", 9_000)]);
    let mut run = Run::start_with(&agent(&script), State::empty(), "go", Shop::default()).unwrap();
    while run.next().await.is_some() {}
    run.cancel(CancelMode::Immediate);
    let result = run.into_result().await.unwrap();
    assert_eq!(result.end(), &End::Cancelled);
    assert!(result.items().last().unwrap().text().contains("before this call was executed"));
}

#[tokio::test]
async fn stop_rule_ends_the_run_at_a_tool() {
    let script = ScriptedBackend::new([calls_refund("c1", 1)]);
    let agent = agent(&script).stop_at(StopRule::FirstCalls);
    let run = Run::start_with(&agent, State::empty(), "go", Shop::default()).unwrap();
    assert!(matches!(run.finish().await.unwrap().end(), End::StoppedAtTool { .. }));
}

#[tokio::test]
async fn type_without_a_strict_schema_is_an_error_at_the_start() {
    type Prices = std::collections::BTreeMap<String, u64>;

    #[derive(Serialize, Deserialize, JsonSchema, Debug, PartialEq)]
    struct List {
        prices: Prices,
    }
    let agent = || Agent::<(), _>::new("a").model(Model::scripted([r#"{"prices":{"tea":3}}"#]));
    let start = |agent| Run::start(&agent, State::empty(), "go");
    let error = start(agent().output::<List>()).unwrap_err().to_string();
    assert!(error.contains("the output type of the agent 'a'"), "{error}");
    assert!(error.contains("`prices` is a map"), "{error}");
    let error = start(agent().output_not_strict::<Vec<u64>>()).unwrap_err().to_string();
    assert!(error.contains("is not an object"), "{error}");

    let run = start(agent().output_not_strict::<List>()).unwrap();
    let list = run.finish().await.unwrap().output::<List>().unwrap();
    assert_eq!(list, List { prices: [("tea".into(), 3)].into() });
}

/// Records the points of a run.
#[derive(Clone, Default)]
struct Points(Arc<Mutex<Vec<String>>>);

impl Points {
    fn add(&self, point: impl Into<String>) {
        self.0.lock().unwrap().push(point.into());
    }
}

#[async_trait]
impl Hooks<()> for Points {
    async fn agent_started(&self, (): &(), agent: &str) -> Result<(), HookError> {
        self.add(format!("{agent} starts"));
        Ok(())
    }

    async fn handed_off(&self, (): &(), from: &str, to: &str) -> Result<(), HookError> {
        self.add(format!("{from} hands over to {to}"));
        Ok(())
    }

    async fn model_asked(&self, (): &(), request: &ModelRequest) -> Result<(), HookError> {
        self.add(format!("asks with {}", request.items.len()));
        Ok(())
    }

    async fn model_answered(&self, (): &(), agent: &str, _: &Answered) -> Result<(), HookError> {
        self.add(format!("{agent} answers"));
        Ok(())
    }

    async fn tool_started(&self, cx: &ToolContext, _: &Item) -> Result<(), HookError> {
        self.add(format!("{} starts", cx.tool()));
        Ok(())
    }

    async fn tool_ended(&self, cx: &ToolContext, _: &Item, _: &Item) -> Result<(), HookError> {
        self.add(format!("{} ends", cx.tool()));
        Ok(())
    }

    async fn run_ended(&self, (): &(), end: &End) -> Result<(), HookError> {
        self.add(end.to_string());
        Ok(())
    }
}

/// Returns the time.
#[tool]
async fn clock() -> &'static str {
    "noon"
}

#[tokio::test]
async fn hooks_run_at_every_point() {
    let call = |id: &str, tool: &str| ScriptedAnswer::new().call(id, tool, json!({}));
    let answers = [call("c1", "clock"), call("c2", "transfer_to_b"), "Noon.".into()];
    let other = Agent::new("b");
    let agent = Agent::new("a").tool(clock).handoff(&other).model(Model::scripted(answers));
    let points = Points::default();
    let run = Run::start(&agent, State::empty(), "go").unwrap().hooks(points.clone());
    run.finish().await.unwrap();
    let expected = [
        "a starts",
        "asks with 1",
        "a answers",
        "clock starts",
        "clock ends",
        "asks with 3",
        "a answers",
        "a hands over to b",
        "b starts",
        "asks with 5",
        "b answers",
        "answered by b",
    ];
    assert_eq!(*points.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn two_agents_cannot_have_one_name() {
    let other = Agent::<(), _>::new("a").instructions("other");
    let agent = Agent::new("a").handoff(&other).model(Model::scripted(["x"]));
    let error = Run::start(&agent, State::empty(), "go").unwrap_err();
    assert_eq!(error, TeamError::RepeatedAgent("a".into()));
}

#[tokio::test]
async fn history_is_compacted_between_turns() {
    let answer = ScriptedAnswer::new().call("c1", "refund", json!({"order": "A1", "cents": 1}));
    let script =
        ScriptedBackend::new([answer, "Done.".into(), "They refunded A1.".into(), "Yes.".into()]);
    let sessions = MemorySessions::new();
    for text in ["refund A1", "was it refunded?"] {
        let state = State::session(sessions.clone(), "s");
        let run = Run::start_with(&agent(&script), state, text, Shop::default()).unwrap();
        let run = run.compaction(Compaction::by_model().at_items(3));
        run.finish().await.unwrap();
    }
    let requests = script.requests();
    let (prompt, dialogue) = requests[2].items.split_last().unwrap();
    assert!(prompt.text().contains("Summarize this conversation"), "{prompt:?}");
    assert_eq!(dialogue.len(), 4, "the whole dialogue is summarized");
    let last: Vec<_> = requests[3].items.iter().map(|item| item.text().to_owned()).collect();
    assert_eq!(last.len(), 2, "{last:?}");
    assert!(last[0].contains("They refunded A1.") && last[1].contains("was it refunded?"));
    assert_eq!(sessions.load("s").await.unwrap().items.len(), 3);
}

#[tokio::test]
async fn failed_compaction_changes_nothing() {
    let script = ScriptedBackend::new(["One.", "Two."]);
    let sessions = MemorySessions::new();
    for text in ["a", "b"] {
        let state = State::session(sessions.clone(), "s");
        let run = Run::start_with(&agent(&script), state, text, Shop::default()).unwrap();
        // The scripted model has no endpoint for compaction.
        let mut run = run.compaction(Compaction::by_provider().at_items(1));
        let mut failures = 0;
        while let Some(event) = run.next().await {
            failures += usize::from(matches!(event, RunEvent::NotCompacted(_)));
        }
        assert!(failures > 0);
        run.finish().await.unwrap();
    }
    assert_eq!(sessions.load("s").await.unwrap().items.len(), 4);
}
