//! A tool whose process dies: the next run reports that its outcome is unknown.

use antiphon_agents::agent::WithModel;
use antiphon_agents::session::{SessionStore, StoreSessions};
use antiphon_agents::{Agent, Model, Run, RunEvent, State, tool};

/// Sends a mail.
#[tool]
async fn send_mail(to: String) -> String {
    std::future::pending::<()>().await;
    to
}

fn agent() -> Agent<(), WithModel> {
    Agent::new("mailer").tool(send_mail).model(Model::sim())
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sessions = StoreSessions::open("sqlite::memory:").await?;

    let state = State::session(sessions.clone(), "user-7");
    let mut run = Run::start(&agent(), state, "Send mail to ada@example.org")?;
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::ToolStarted(_)) {
            break;
        }
    }
    // As if the process died: nothing of the run is left but its session.
    drop(run);

    let state = State::session(sessions.clone(), "user-7");
    let result = Run::start(&agent(), state, "Did the mail arrive?")?.finish().await?;
    println!("{}", result.text());
    let items = sessions.load("user-7").await?.items;
    assert!(items.iter().any(|item| item.text().contains("Its outcome is unknown.")));
    Ok(())
}
