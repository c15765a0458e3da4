//! The measured numbers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::options::Case;
use crate::servers::Server;

/// The numbers of one server in one part of a case.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) server: String,
    pub(crate) durability: &'static str,
    /// The case, and its part if it has several.
    pub(crate) case: String,
    pub(crate) numbers: BTreeMap<Metric, f64>,
    /// Sentences: a failure, or a number that could not be measured.
    pub(crate) notes: Vec<String>,
    /// Whether the server leaves the items of earlier turns to its upstream.
    pub(crate) delegated: bool,
    /// The fault that the judge found. It voids the numbers.
    pub(crate) void: Option<String>,
}

/// A measured quantity. The order is that of the table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    CpuMicros,
    /// The processor time in proportion to that of the same server without an exporter.
    CpuRatio,
    /// The exported spans of a request.
    Spans,
    RequestsPerSecond,
    P50Micros,
    P99Micros,
    AddedP50Micros,
    AddedP99Micros,
    /// The requests a second at which the p99 is 1 ms above that of the upstream alone.
    RateAtOneMillisecond,
    WrittenBytes,
    Syncs,
    WalPages,
    WalBytes,
    RoundTrips,
    ResidentMegabytes,
    Streams,
    CompletedStreams,
    BytesPerStream,
    /// The resident memory after all streams have ended.
    ResidentMegabytesAfterEnd,
    Kills,
    AcknowledgedTurns,
    BrokenDialogues,
    /// The median of the times from the start of a process until it listens.
    StartMilliseconds,
    SlowestStartMilliseconds,
}

impl Metric {
    /// The name in the file of results, with the unit.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CpuMicros => "cpu_us",
            Self::CpuRatio => "cpu_ratio",
            Self::Spans => "spans",
            Self::RequestsPerSecond => "requests_per_s",
            Self::P50Micros => "p50_us",
            Self::P99Micros => "p99_us",
            Self::AddedP50Micros => "added_p50_us",
            Self::AddedP99Micros => "added_p99_us",
            Self::RateAtOneMillisecond => "requests_per_s_at_1_ms",
            Self::WrittenBytes => "written_bytes",
            Self::Syncs => "syncs",
            Self::WalPages => "wal_pages",
            Self::WalBytes => "wal_bytes",
            Self::RoundTrips => "round_trips",
            Self::Streams => "streams",
            Self::CompletedStreams => "completed_streams",
            Self::BytesPerStream => "bytes_per_stream",
            Self::ResidentMegabytes => "resident_mb",
            Self::ResidentMegabytesAfterEnd => "resident_mb_after_end",
            Self::Kills => "kills",
            Self::AcknowledgedTurns => "acknowledged_turns",
            Self::BrokenDialogues => "broken_dialogues",
            Self::StartMilliseconds => "start_ms",
            Self::SlowestStartMilliseconds => "slowest_start_ms",
        }
    }
}

impl Row {
    /// The row of a case that could not be run.
    pub(crate) fn failed(case: Case, server: &Server, error: &anyhow::Error) -> Self {
        Self {
            server: server.name.to_owned(),
            durability: server.durability.text(),
            case: case.name(),
            numbers: BTreeMap::new(),
            delegated: false,
            notes: vec![format!("{error:#}")],
            void: None,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let numbers: BTreeMap<&str, f64> =
            self.numbers.iter().map(|(metric, number)| (metric.name(), *number)).collect();
        json!({"server": self.server, "durability": self.durability, "case": self.case,
            "numbers": numbers, "delegated": self.delegated,
            "notes": self.notes, "void": self.void})
    }
}
