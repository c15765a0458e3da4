//! Calls of tools: errors, timeouts, their number, their order, and the kinds of tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use antiphon_agents::machine::End;
use antiphon_agents::model::{ScriptedAnswer, ScriptedBackend};
use antiphon_agents::roster::Limits;
use antiphon_agents::tool::{FunctionTool, Grammar, HostedTool, NoArguments, ToolErrorKind};
use antiphon_agents::{Agent, Model, Run, State, ToolContext, ToolError, tool};
use serde_json::json;
use tokio::sync::Notify;

use crate::world::{OWNERS, World, answer, finish};

/// The tools that run, at most, and the order in which they end.
#[derive(Default)]
struct Gauge {
    running: AtomicUsize,
    most: AtomicUsize,
    second_has_ended: Notify,
}

impl Gauge {
    fn begin(&self) {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(running, Ordering::Relaxed);
    }

    fn end(&self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts the tools that run beside it.
#[tool]
async fn counted(cx: &ToolContext<Gauge>) -> &'static str {
    cx.context().begin();
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    cx.context().end();
    "counted"
}

/// Ends after the second tool.
#[tool]
async fn first(cx: &ToolContext<Gauge>) -> &'static str {
    cx.context().second_has_ended.notified().await;
    "first"
}

/// Ends before the first tool.
#[tool]
async fn second(cx: &ToolContext<Gauge>) -> &'static str {
    cx.context().second_has_ended.notify_one();
    "second"
}

/// Fails, with a text of its own.
#[tool(error_text = |error| format!("own: {error}"))]
async fn own_text() -> Result<String, ToolError> {
    Err(ToolError::new("broken"))
}

/// Fails.
#[tool]
async fn failing() -> Result<String, ToolError> {
    Err(ToolError::new("broken"))
}

/// Fails, and ends the run.
#[tool(on_error = EndRun)]
async fn ending() -> Result<String, ToolError> {
    Err(ToolError::new("broken"))
}

#[tokio::test]
async fn policies_decide_about_errors() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let closure = FunctionTool::new("closure", "", async |_: ToolContext, _: NoArguments| {
            Err::<String, _>(ToolError::new("broken"))
        });
        let agent = Agent::new("a").tool(own_text).tool(failing).tool(ending);
        let agent = agent.tool(closure.error_text(|_| "by closure".into()));
        let agent = agent.tool_error_text(|error| match error.kind() {
            ToolErrorKind::InvalidArguments => "bad arguments".into(),
            _ => format!("by agent: {error}"),
        });
        let agent = agent.model(world.model());
        let calls = answer().call("c1", "own_text", "{}").call("c2", "failing", "{}");
        let calls = calls.call("c3", "closure", "{}").call("c4", "failing", r#"{"a":1}"#);
        world.script([calls, answer().call("c5", "ending", "{}"), answer().message("Go on.")]);
        let result = finish(world.start(&agent, world.state(owner), "go")).await;
        assert_eq!(world.last_output("c1"), "own: broken", "{case}");
        assert_eq!(world.last_output("c2"), "by agent: broken", "{case}");
        assert_eq!(world.last_output("c3"), "by closure", "{case}");
        assert_eq!(world.last_output("c4"), "bad arguments", "{case}");
        let error = "the tool 'ending' failed: broken";
        assert_eq!(result.end(), &End::Failed { error: error.into() }, "{case}");
        // The call has an output, so the conversation can continue.
        let next = finish(world.start(&agent, result.next_state(), "and?")).await;
        assert_eq!(next.text(), "Go on.", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn call_ends_at_its_timeout() {
    let never = FunctionTool::new("never", "", async |_: ToolContext, _: NoArguments| {
        std::future::pending::<String>().await
    });
    let call = ScriptedAnswer::new().call("c1", "never", json!({}));
    let script = ScriptedBackend::new([call, "Too slow.".into()]);
    let agent = Agent::new("a").tool(never.timeout(Duration::from_millis(1)));
    let agent = agent.model(Model::new("m", script.clone()));
    let result = finish(Run::start(&agent, State::empty(), "go").unwrap()).await;
    assert_eq!(result.text(), "Too slow.");
    let output = script.requests()[1].items.last().unwrap().text().to_owned();
    assert!(output.contains("did not end within 1ms"), "{output}");
}

#[tokio::test]
async fn calls_run_in_parallel_up_to_the_limit() {
    for (limit, most) in [(1, 1), (3, 3), (8, 6)] {
        let world = World::new().await;
        let calls = (1..=6).fold(answer(), |it, call| it.call(format!("c{call}"), "counted", "{}"));
        world.script([calls, answer().message("Done.")]);
        let agent = Agent::new("a").tool(counted).model(world.model());
        let gauge = Arc::new(Gauge::default());
        let run = world.start_with(&agent, State::empty(), "go", Arc::clone(&gauge));
        finish(run.limits(Limits { parallel_calls: limit, ..Limits::default() })).await;
        assert_eq!(gauge.most.load(Ordering::Relaxed), most, "{limit}");
    }
}

#[tokio::test]
async fn model_reads_outputs_in_the_order_of_its_calls() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let agent = Agent::<Gauge>::new("a").tool(first).tool(second).model(world.model());
        let calls = answer().call("c1", "first", "{}").call("c2", "second", "{}");
        world.script([calls, answer().message("Done.")]);
        finish(world.start(&agent, world.state(owner), "go")).await;
        let input = world.last_input();
        let outputs: Vec<_> = input.iter().filter_map(|item| item["output"].as_str()).collect();
        assert_eq!(outputs, ["first", "second"], "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn custom_tool_reads_text_and_returns_text() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let sql = FunctionTool::custom("sql", "Runs a query.", async |_: ToolContext, query| {
            format!("no rows match {query}")
        });
        let sql = sql.grammar(Grammar::Regex("SELECT .+".into()));
        let agent = Agent::new("a").tool(sql).model(world.model());
        let call = answer().custom_call("c1", "sql", "SELECT \"a\"\nFROM b");
        world.script([call, answer().message("Done.")]);
        finish(world.start(&agent, world.state(owner), "go")).await;
        assert_eq!(world.last_output("c1"), "no rows match SELECT \"a\"\nFROM b", "{case}");
        let input = world.last_input();
        assert_eq!(input.last().unwrap()["type"], "custom_tool_call_output", "{case}");
        assert_eq!(world.provider.turns()[0].body["tools"][0]["type"], "custom", "{case}");
        world.assert_clean(&case);
    }
}

#[tokio::test]
async fn hosted_tools_are_passed_through() {
    for owner in OWNERS {
        let case = format!("{owner:?}");
        let world = World::new().await;
        let agent = Agent::<()>::new("a").hosted_tool(HostedTool::web_search());
        let agent = agent.model(world.model());
        let search = json!({
            "type": "web_search_call", "status": "completed",
            "action": {"type": "search", "query": "cats"},
        });
        world.script([answer().item(search).message("Found."), answer().message("Yes.")]);
        let result = finish(world.start(&agent, world.state(owner), "go")).await;
        assert_eq!(result.text(), "Found.", "{case}");
        assert_eq!(world.provider.turns()[0].body["tools"], json!([{"type": "web_search"}]));
        finish(world.start(&agent, result.next_state(), "really?")).await;
        let input = world.last_input();
        let searches = input.iter().filter(|item| item["type"] == "web_search_call").count();
        assert_eq!(searches, 1, "{case}: {input:#?}");
        world.assert_clean(&case);
    }
}
