//! The spans of a run, as lines. An application sends them to a collector: it installs the layer of
//! `tracing-opentelemetry` in place of this subscriber.

use antiphon_agents::model::{Model, ScriptedAnswer, Usage};
use antiphon_agents::{Agent, Run, State, tool};
use serde_json::json;
use tracing_subscriber::fmt::format::FmtSpan;

/// Tells the time.
#[tool]
async fn clock() -> &'static str {
    "noon"
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A span is printed when it is closed, with its attributes and those of its parents.
    let subscriber = tracing_subscriber::fmt().with_span_events(FmtSpan::CLOSE).without_time();
    let _subscriber = tracing::subscriber::set_default(subscriber.finish());

    let usage = Usage { input_tokens: 12, output_tokens: 3, ..Usage::default() };
    let call = ScriptedAnswer::new().call("call_1", "clock", json!({})).usage(usage);
    let model = Model::scripted([call, ScriptedAnswer::from("It is noon.").usage(usage)]);
    let agent = Agent::new("assistant").tool(clock).model(model);
    let result = Run::start(&agent, State::empty(), "What time is it?")?.finish().await?;

    assert_eq!(result.usage().input_tokens, 24);
    assert_eq!(result.usage_by_agent()["assistant"].requests, 2);
    Ok(())
}
