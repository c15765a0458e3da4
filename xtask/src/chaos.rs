//! `cargo xtask chaos`: kills a gateway at random moments and checks its guarantees.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::report::Report;
use crate::run::{execute, timed};
use crate::scripts;
use crate::tally::{Counts, Tally};
use crate::workspace::Workspace;

/// The number of kills and of clients.
#[derive(Args)]
pub(crate) struct Chaos {
    /// The store of the gateway
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Store::Sqlite)]
    store: Store,
    /// The number of kills [default: 10, with --long 200]
    #[arg(long, value_name = "N")]
    kills: Option<u32>,
    /// Kill the gateway 200 times
    #[arg(long)]
    long: bool,
    /// The number of clients
    #[arg(long, value_name = "N", default_value_t = CLIENTS)]
    clients: u32,
    /// The seed of the requests and the kills; random by default
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// The kind of store.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Store {
    /// A file, for one gateway
    Sqlite,
    /// A database, for two gateways
    Postgres,
    /// Both, one after the other
    Both,
}

const CLIENTS: u32 = 6;
/// The number of kills in a test run, and with `--long`.
const KILLS: (u32, u32) = (10, 200);
const SQLITE: (&str, &str) = ("sqlite", "SQLite");
const POSTGRES: (&str, &str) = ("postgres", "PostgreSQL");
/// The seed of every test run.
const SEED: u64 = 1;

/// Builds the gateway and runs the chaos test.
pub(crate) fn run(workspace: &Workspace, chaos: &Chaos) -> Report {
    let mut report = Report::default();
    report.add(timed("build", || execute(workspace.build_command(), Counts::None)));
    if chaos.store != Store::Sqlite {
        report.add(timed("postgres", || execute(scripts::postgres(workspace), Counts::None)));
    }
    if !report.has_failures() {
        for (store, name) in chaos.stores() {
            let command = chaos.command(workspace, store);
            report.add(timed(name, || execute(command, Counts::None)));
        }
    }
    report
}

/// Runs the chaos test of a test run, with the built binaries, on every store.
pub(crate) fn run_in_tests(workspace: &Workspace) -> anyhow::Result<Tally> {
    let store = Store::Both;
    let chaos = Chaos { store, kills: None, long: false, clients: CLIENTS, seed: Some(SEED) };
    let mut tally = Tally::default();
    for (store, _) in chaos.stores() {
        tally += execute(chaos.command(workspace, store), Counts::None)?;
    }
    Ok(tally)
}

impl Chaos {
    /// The stores: the program's argument and the name in the report.
    fn stores(&self) -> Vec<(&'static str, &'static str)> {
        match self.store {
            Store::Sqlite => vec![SQLITE],
            Store::Postgres => vec![POSTGRES],
            Store::Both => vec![SQLITE, POSTGRES],
        }
    }

    fn command(&self, workspace: &Workspace, store: &str) -> Command {
        let kills = self.kills.unwrap_or(if self.long { KILLS.1 } else { KILLS.0 });
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one("chaos"));
        let mut command = workspace.command(workspace.binary("antiphon-chaos"));
        command.arg("--antiphon").arg(workspace.binary("antiphon"));
        command.arg("--store").arg(store);
        command.arg("--kills").arg(kills.to_string());
        command.arg("--clients").arg(self.clients.to_string());
        command.arg("--seed").arg(seed.to_string());
        command
    }
}
