//! Kills a gateway at random moments, with SIGKILL, while clients ask it things; starts it again on
//! the same store, and checks what the clients were promised:
//!
//! - what was acknowledged is there, once, with the items that were told, and in an order that fits
//!   what each client knows;
//! - no turn is half there: it is whole, or its input and its finished items are, or nothing is;
//! - a request that is repeated under its key stores its input once, also where several writers share
//!   its conversation;
//! - an id that a client saw in `response.created` can be gone on from;
//! - what the model is given is well-formed, is all that is kept, and nothing that was deleted.
//!
//! Which requests are sent and when the gateway is killed follow from a seed; how the operating
//! system interleaves them does not, so that a seed makes a failure likely again, not certain.

mod ask;
mod check;
mod client;
mod fleet;
mod fuse;
mod ground;
mod ledger;
mod look;
mod mark;
mod model;
mod provider;
mod replica;
mod request;
mod retry;
mod run;
mod scene;
mod tally;
mod wire;
mod writers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tempfile::TempDir;

use crate::ground::Kind;
use crate::run::{Run, Size};

#[derive(Debug, Parser)]
#[command(name = "antiphon-chaos", about = "Kills a gateway and checks what it promised")]
struct CommandLine {
    /// The `antiphon` binary
    #[arg(long, value_name = "FILE")]
    antiphon: PathBuf,
    /// What it keeps its state in
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Sqlite)]
    store: Kind,
    /// How often to kill it
    #[arg(long, value_name = "N", default_value_t = 10)]
    kills: usize,
    /// How many clients there are
    #[arg(long, value_name = "N", default_value_t = 6)]
    clients: usize,
    /// What requests and kills follow from
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
            Ok(kept(folder))
        }
        Err(error) => {
            println!("\n{error:#}; seed {seed}");
            Ok(kept(folder))
        }
    }
}

/// Leaves the store and the gateway's log where they are.
fn kept(folder: TempDir) -> ExitCode {
    println!("The store and the gateway's log are in {}", folder.keep().display());
    ExitCode::FAILURE
}
