//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures gateways under load.
#[derive(Parser)]
#[command(name = "gateway-bench")]
pub(crate) struct Options {
    /// A release build of the gateway
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) antiphon: PathBuf,
    /// A folder with other gateways: their programs are in `DIR/bin` or `DIR/*/bin`
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,
    /// The folder for databases and logs; it must be on a disk
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Fewer requests for each number
    #[arg(long)]
    pub(crate) short: bool,
    /// Ask each server to stop before it is killed, so that it can write what it counted
    #[arg(long)]
    pub(crate) stop_in_order: bool,
    /// Run only this case; may be repeated
    #[arg(long, value_name = "NAME", value_enum)]
    case: Vec<Case>,
    /// Measure only the servers whose names contain this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    server: Vec<String>,
    /// Write the results to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// One load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// One turn of a new dialogue, answered as JSON
    Json,
    /// The same, answered as a stream of 60 deltas without pauses
    #[value(name = "stream-60")]
    Stream60,
    /// The same, with a pause of a millisecond before each event
    #[value(name = "stream-60-paced")]
    Stream60Paced,
    /// A stream of 2,000 deltas without pauses
    #[value(name = "stream-2000")]
    Stream2000,
    /// A client of Chat Completions, whose requests and answers pass unchanged
    Chat,
    /// Clients and upstreams of different APIs, whose requests and answers are translated
    Translated,
    /// Dialogues of 100 turns that continue by `previous_response_id`
    #[value(name = "chain-100")]
    Chain100,
    /// Turns with one new item after 1, 10, 100 and 1,000 turns
    Depth,
    /// Turns with all items again after 1, 10, 100 and 1,000 turns of a conversation
    Replay,
    /// 16 conversations, which are written at the same time
    Writers,
    /// Dialogues in which each second turn has the output of a tool
    Tools,
    /// Dialogues in which each tenth turn is aborted and sent again
    Aborts,
    /// The latency that a server adds, and the rate at which it adds 1 ms to the p99
    #[value(name = "latency-json")]
    LatencyJson,
    /// The same, for streams of 60 deltas
    #[value(name = "latency-stream-60")]
    LatencyStream60,
    /// Synced writes, pages of the write-ahead log, and round trips to a database
    Io,
    /// Turns of a server that exports its traces: none, 1 % and all of them
    Telemetry,
    /// 10,000 streams that wait for their model
    Idle,
    /// Acknowledged turns after the server is killed
    Kill,
    /// The time until a started process listens
    Start,
}

impl Options {
    pub(crate) fn cases(&self) -> Vec<Case> {
        let is_chosen = |case: &&Case| self.case.is_empty() || self.case.contains(case);
        Case::value_variants().iter().filter(is_chosen).copied().collect()
    }

    pub(crate) fn includes(&self, server: &str) -> bool {
        self.server.is_empty() || self.server.iter().any(|text| server.contains(text.as_str()))
    }
}

impl Case {
    /// The name on the command line and in the table.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
