//! A tool whose process dies: the next run reports that its outcome is unknown.

use antiphon_agents::agent::WithModel;
use antiphon_agents::model::{Model, ScriptedAnswer, ScriptedBackend};
use antiphon_agents::session::StoreSessions;
use antiphon_agents::{Agent, Run, RunEvent, State, tool};
use serde_json::json;

/// Sends a mail.
#[tool]
async fn send_mail(to: String) -> String {
    std::future::pending::<()>().await;
    to
}

fn agent(script: &ScriptedBackend) -> Agent<(), WithModel> {
    Agent::new("mailer").tool(send_mail).model(Model::new("m", script.clone()))
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = StoreSessions::open("sqlite::memory:").await?;
    let call = ScriptedAnswer::new().call("call_1", "send_mail", json!({"to": "ada@example.org"}));
    let script = ScriptedBackend::new([call, "I do not know if it was sent.".into()]);

    let state = State::session(sessions.clone(), "user-7");
    let mut run = Run::start(&agent(&script), state, "Mail Ada")?;
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ToolStarted(_)) {
            break;
        }
    }
    // As if the process died: nothing of the run is left but its session.
    drop(run);

    let state = State::session(sessions, "user-7");
    let result = Run::start(&agent(&script), state, "Did you?")?.finish().await?;
    let read = &script.requests()[1].items;
    assert!(read[2].text().contains("Its outcome is unknown."));
    println!("{}", result.text());
    Ok(())
}
