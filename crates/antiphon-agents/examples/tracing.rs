//! The spans of a run, as lines. An application sends them to a collector: it installs the layer of
//! `tracing-opentelemetry` in place of this subscriber.

use antiphon_agents::{Agent, Model, Run, State, tool};
use tracing_subscriber::fmt::format::FmtSpan;

/// Returns the time.
#[tool]
async fn clock() -> &'static str {
    "noon"
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A span is printed when it is closed, with its attributes and those of its parents.
    let subscriber = tracing_subscriber::fmt().with_span_events(FmtSpan::CLOSE).without_time();
    let _subscriber = tracing::subscriber::set_default(subscriber.finish());

    let agent = Agent::new("assistant").tool(clock).model(Model::sim());
    let result = Run::start(&agent, State::empty(), "Ask the clock")?.finish().await?;

    let usage = result.usage();
    println!("{} requests, {} output tokens", usage.requests, usage.output_tokens);
    assert_eq!((usage.requests, result.usage_by_agent()["assistant"].requests), (2, 2));
    assert!(usage.input_tokens > 0 && result.text().contains("noon"));
    Ok(())
}
