//! The spans of runs, as a subscriber sees them.

#![allow(clippy::unwrap_used, reason = "a world that cannot be set up fails the test")]

mod collector;

use antiphon::item::given;
use antiphon_agents::agent::WithModel;
use antiphon_agents::model::{Model, ModelError, ScriptedAnswer, ScriptedBackend, Usage};
use antiphon_agents::session::MemorySessions;
use antiphon_agents::{Agent, Compaction, Run, RunEvent, State, ToolContext, ToolError, tool};
use serde_json::json;
use tokio::sync::Barrier;
use tracing::Instrument as _;

use collector::Collector;

/// A text that no attribute may contain.
const SECRET: &str = "purple elephant";

/// Waits until both calls run, in a span of its own.
#[tool]
async fn meet(cx: &ToolContext<Barrier>, note: String) -> String {
    cx.context().wait().await;
    let span = tracing::info_span!("inner", otel.name = format!("inner {}", cx.call_id()));
    async { note }.instrument(span).await
}

/// Fails.
#[tool]
async fn fail() -> Result<String, ToolError> {
    Err(ToolError::new(SECRET))
}

/// Panics.
#[tool]
async fn panicking(cx: &ToolContext<Barrier>) -> String {
    assert!(cx.tool().is_empty(), "a tool of the test panics");
    String::new()
}

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn agent(name: &str, script: &ScriptedBackend) -> Agent<Barrier, WithModel> {
    let agent = Agent::new(name).instructions(SECRET).model(Model::new("think-1", script.clone()));
    agent.tool(meet).tool(fail).tool(panicking)
}

fn start(agent: &Agent<Barrier, WithModel>, state: State) -> Run<Barrier> {
    Run::start_with(agent, state, SECRET, Barrier::new(2)).unwrap()
}

#[tokio::test]
async fn concurrent_tools_are_children_of_their_agent() {
    let (collector, _guard) = Collector::install();
    let calls = ScriptedAnswer::new()
        .call("call_1", "meet", json!({"note": SECRET}))
        .call("call_2", "meet", json!({"note": SECRET}))
        .usage(usage(10, 2));
    let last = ScriptedAnswer::from(SECRET).usage(usage(30, 4));
    let script = ScriptedBackend::new([calls, last]);
    let state = State::session(MemorySessions::new(), "user-7");
    let caller = tracing::info_span!("request", otel.name = "request");
    // The run is created in the caller's span, and polled in another one.
    let run = caller.in_scope(|| start(&agent("triage", &script), state));
    let elsewhere = tracing::info_span!("elsewhere", otel.name = "elsewhere");
    run.into_result().instrument(elsewhere).await.unwrap();

    let expected = "request\n\
        \x20 invoke_agent triage\n\
        \x20   chat think-1\n\
        \x20   execute_tool meet\n\
        \x20     inner call_1\n\
        \x20   execute_tool meet\n\
        \x20     inner call_2\n\
        \x20   chat think-1\n\
        elsewhere\n";
    assert_eq!(collector.tree(), expected);
    assert!(collector.spans().iter().all(|span| span.is_closed || span.name() == "request"));

    let agent = collector.span("invoke_agent triage");
    assert_eq!(agent.field("gen_ai.operation.name"), Some("invoke_agent"));
    assert_eq!(agent.field("gen_ai.agent.name"), Some("triage"));
    assert_eq!(agent.field("gen_ai.conversation.id"), Some("user-7"));
    assert_eq!(agent.field("gen_ai.usage.input_tokens"), Some("40"));
    assert_eq!(agent.field("gen_ai.usage.output_tokens"), Some("6"));
    assert_eq!(agent.field("error.type"), None);
    let chat = collector.span("chat think-1");
    assert_eq!(chat.field("gen_ai.operation.name"), Some("chat"));
    assert_eq!(chat.field("gen_ai.request.model"), Some("think-1"));
    assert_eq!(chat.field("gen_ai.response.model"), Some("think-1"));
    assert_eq!(chat.field("gen_ai.conversation.id"), Some("user-7"));
    assert_eq!(chat.field("gen_ai.usage.input_tokens"), Some("10"));
    assert_eq!(chat.field("gen_ai.usage.output_tokens"), Some("2"));
    let tool = collector.span("execute_tool meet");
    assert_eq!(tool.field("gen_ai.operation.name"), Some("execute_tool"));
    assert_eq!(tool.field("gen_ai.tool.name"), Some("meet"));
    assert_eq!(tool.field("gen_ai.tool.call.id"), Some("call_1"));
    assert_eq!(tool.field("error.type"), None);
    let all = format!("{:?} {:?}", collector.spans(), collector.events());
    assert!(!all.contains(SECRET), "{all}");
}

#[tokio::test]
async fn handoff_begins_a_span_with_its_own_usage() {
    let (collector, _guard) = Collector::install();
    let handoff = ScriptedAnswer::new().call("call_1", "transfer_to_billing", json!({}));
    let last = ScriptedAnswer::from("Done.").usage(usage(30, 4));
    let script = ScriptedBackend::new([handoff.usage(usage(10, 2)), last]);
    let billing = agent("billing", &script);
    let triage = agent("triage", &script).handoff(&billing);
    let result = start(&triage, State::empty()).into_result().await.unwrap();

    let expected = "invoke_agent triage\n\
        \x20 chat think-1\n\
        invoke_agent billing\n\
        \x20 chat think-1\n";
    assert_eq!(collector.tree(), expected);
    let tokens = |agent: &str| {
        let span = collector.span(&format!("invoke_agent {agent}"));
        span.field("gen_ai.usage.input_tokens").map(str::to_owned)
    };
    assert_eq!(
        (tokens("triage").as_deref(), tokens("billing").as_deref()),
        (Some("10"), Some("30"))
    );

    let usage = result.usage_by_agent();
    assert_eq!((usage["triage"].input_tokens, usage["billing"].input_tokens), (10, 30));
    assert_eq!(result.usage().input_tokens, 40);
}

#[tokio::test]
async fn failed_tools_have_the_type_of_their_error() {
    let (collector, _guard) = Collector::install();
    let calls = ScriptedAnswer::new()
        .call("call_1", "fail", json!({}))
        .call("call_2", "panicking", json!({}))
        .call("call_3", "meet", json!({"note": 1}));
    let script = ScriptedBackend::new([calls, "I see.".into()]);
    start(&agent("triage", &script), State::empty()).into_result().await.unwrap();

    let error = |tool: &str| {
        let span = collector.span(&format!("execute_tool {tool}"));
        assert_eq!(span.field("otel.status_code"), Some("ERROR"));
        span.field("error.type").map(str::to_owned)
    };
    assert_eq!(error("fail").as_deref(), Some("failed"));
    assert_eq!(error("panicking").as_deref(), Some("panic"));
    assert_eq!(error("meet").as_deref(), Some("invalid_arguments"));
    assert_eq!(collector.span("invoke_agent triage").field("error.type"), None);
}

#[tokio::test]
async fn failed_request_has_the_status_of_the_server() {
    let (collector, _guard) = Collector::install();
    let script = ScriptedBackend::new([ScriptedAnswer::failure(ModelError::rejected(400, "{}"))]);
    start(&agent("triage", &script), State::empty()).into_result().await.unwrap();
    assert_eq!(collector.span("chat think-1").field("error.type"), Some("400"));
    assert_eq!(collector.span("invoke_agent triage").field("error.type"), Some("failed"));
}

#[tokio::test]
async fn dropped_run_closes_its_spans() {
    let (collector, _guard) = Collector::install();
    let call = ScriptedAnswer::new().call("call_1", "meet", json!({"note": "x"}));
    let script = ScriptedBackend::new([call]);
    let mut run = start(&agent("triage", &script), State::empty());
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ToolStarted(_)) {
            break;
        }
    }
    tokio::task::yield_now().await;
    drop(run);
    // The aborted task is dropped by the runtime.
    tokio::task::yield_now().await;
    assert!(collector.spans().iter().all(|span| span.is_closed), "{:#?}", collector.spans());
    assert_eq!(collector.span("execute_tool meet").field("error.type"), Some("cancelled"));
}

#[tokio::test]
async fn repairs_are_events() {
    let (collector, _guard) = Collector::install();
    let script = ScriptedBackend::new(["Done."]);
    let state = State::replay([given::output("call_9", SECRET)]);
    let mut run = start(&agent("triage", &script), state);
    let mut reported = Vec::new();
    while let Some(event) = run.next().await {
        if let RunEvent::Asked { repairs, .. } = event {
            reported.extend(repairs);
        }
    }
    assert_eq!(reported.len(), 1);
    let events = collector.events();
    let repair = events.iter().find(|event| event.contains_key("fault")).unwrap();
    assert_eq!(
        (repair["fault"].as_str(), repair["action"].as_str()),
        (reported[0].fault, reported[0].action)
    );
    assert_eq!(repair["item.call_id"], "call_9");
}

#[tokio::test]
async fn summary_of_a_compaction_is_a_request_of_its_agent() {
    let (collector, _guard) = Collector::install();
    let script = ScriptedBackend::new(["One.", "They counted to one."]);
    let state = State::session(MemorySessions::new(), "s");
    let run = start(&agent("triage", &script), state);
    let run = run.compaction(Compaction::by_model().at_items(1));
    run.into_result().await.unwrap();
    assert_eq!(collector.tree(), "invoke_agent triage\n  chat think-1\n  chat think-1\n");
}
