//! `antiphon run`: runs an agent with a gateway of its own, or with one that already runs.

mod agent;
mod args;
mod browser;
mod child;
mod gateway;
mod gemini;

use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon_gateway::Server;
use tokio::sync::oneshot;

pub(crate) use args::RunArgs;
use child::AgentProcess;
use gateway::Gateway;

use crate::failure::Failure;
use crate::{logging, serve, settings};

/// Runs the agent. The exit code is that of the agent.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    if let Some(file) = &args.log {
        logging::install_in(file, settings::environment)?;
    }
    serve::runtime()?.block_on(run_agent(args))
}

async fn run_agent(args: &RunArgs) -> Result<ExitCode, Failure> {
    let gateway = Gateway::open(args).await?;
    let variable = |name: &str| settings::environment(name).ok().flatten();
    let launch = args.agent.launch(&gateway.endpoint, &args.args, variable)?;
    if args.inspect {
        show_inspector(&gateway.inspector());
    }
    let agent = AgentProcess::start(args.agent, &launch)?;
    match gateway.server {
        Some(server) => run_both(server, agent).await,
        None => wait(agent).await,
    }
}

async fn wait(mut agent: AgentProcess) -> Result<ExitCode, Failure> {
    agent.wait().await
}

/// Serves until the agent has ended, then stops the gateway gracefully. If the gateway fails, the
/// agent is asked to end.
async fn run_both(server: Server, mut agent: AgentProcess) -> Result<ExitCode, Failure> {
    let (stop, stopped) = oneshot::channel();
    let serving = server.run(async {
        // An error means that the agent has ended.
        let _ = stopped.await;
    });
    tokio::pin!(serving);
    let code = tokio::select! {
        code = agent.wait() => code,
        served = &mut serving => {
            agent.terminate();
            agent.wait().await?;
            return Err(failed(served.err()));
        }
    };
    // An error means that the gateway has already ended.
    let _ = stop.send(());
    serving.await.map_err(|error| failed(Some(error)))?;
    code
}

fn failed(error: Option<io::Error>) -> Failure {
    let reason = error.map_or_else(|| "it ended".to_owned(), |error| error.to_string());
    Failure::runtime(format!("the gateway of the agent failed: {reason}"))
}

/// Prints the address on standard error, before the agent takes the terminal. A failed write does
/// not stop the agent.
fn show_inspector(url: &str) {
    let _ = writeln!(io::stderr(), "Inspector: {url}");
    browser::open(url);
}
