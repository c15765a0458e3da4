//! Kills a gateway with SIGKILL at random moments while clients send requests, restarts it on the
//! same store, and checks its guarantees:
//!
//! - Acknowledged items are stored exactly once, equal to those that the client received, in an
//!   order that fits the knowledge of every client.
//! - No turn is partially stored: the store has the complete turn, its input and finished items, or
//!   nothing.
//! - A request that is repeated with its idempotency key stores its input once, even if several
//!   writers share its conversation.
//! - A response id that a client received in `response.created` can be continued.
//! - The model's input is valid. It has all stored items and no deleted ones.
//!
//! A seed determines the requests and the moments of the kills, but not their interleaving by the
//! operating system. The same seed makes the same failure likely, not certain.

mod check;
mod client;
mod fleet;
mod gateway_client;
mod kill_trigger;
mod ledger;
mod lookup;
mod mark;
mod model;
mod provider;
mod replica;
mod request;
mod retry;
mod run;
mod send;
mod shared;
mod store;
mod tally;
mod writers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tempfile::TempDir;

use crate::run::{Run, Size};
use crate::store::Kind;

#[derive(Debug, Parser)]
#[command(name = "antiphon-chaos", about = "Kills a gateway and checks its guarantees")]
struct CommandLine {
    /// The `antiphon` binary
    #[arg(long, value_name = "FILE")]
    antiphon: PathBuf,
    /// The store of the gateway
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Sqlite)]
    store: Kind,
    /// The number of kills
    #[arg(long, value_name = "N", default_value_t = 10)]
    kills: usize,
    /// The number of clients
    #[arg(long, value_name = "N", default_value_t = 6)]
    clients: usize,
    /// The seed of the requests and the kills
    #[arg(long, value_name = "N")]
    seed: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let CommandLine { antiphon, store, kills, clients, seed } = CommandLine::parse();
    let folder = tempfile::tempdir()?;
    println!("chaos on {store}, seed {seed}");
    let started = Instant::now();
    let mut run =
        Run::start(antiphon.canonicalize()?, folder.path().to_owned(), store, seed).await?;
    let outcome = run.run(Size { kills, clients }).await;
    println!("{}; {:.1} s", run.tally, started.elapsed().as_secs_f64());
    drop(run);
    match outcome {
        Ok(violations) if violations.is_empty() => Ok(ExitCode::SUCCESS),
        Ok(violations) => {
            for violation in &violations {
                println!("\n{violation}");
            }
            println!("\n{} violations, seed {seed}", violations.len());
            Ok(keep_for_inspection(folder))
        }
        Err(error) => {
            println!("\n{error:#}; seed {seed}");
            Ok(keep_for_inspection(folder))
        }
    }
}

/// Leaves the folder with the store and the gateway's log for inspection.
fn keep_for_inspection(folder: TempDir) -> ExitCode {
    println!("The store and the gateway's log are in {}", folder.keep().display());
    ExitCode::FAILURE
}
