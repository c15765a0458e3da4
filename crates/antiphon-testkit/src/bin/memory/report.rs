//! The measured memory.

use std::time::Duration;
use std::{fmt, io};

use antiphon_testkit::process::Gateway;
use tokio::time::{Instant, sleep};

/// The rows of the table.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

/// The memory of the gateway under one load, in bytes.
pub(crate) struct Row {
    load: &'static str,
    /// The bytes that the load requests.
    requested: u64,
    /// Resident memory before the load.
    before: u64,
    peak: u64,
    /// Resident memory after the load.
    after: u64,
}

/// The bound on the peak beyond the requested bytes, and on the memory that remains afterwards.
const ALLOWED: u64 = 150_000_000;

/// The time between two readings, and the number of equal readings that count as settled.
const INTERVAL: Duration = Duration::from_millis(250);
const EQUAL_READINGS: u32 = 8;
const TIMEOUT: Duration = Duration::from_mins(1);

/// The time an allocator needs to return memory to the system.
const RELEASE_DELAY: Duration = Duration::from_secs(12);

/// Waits until the gateway's memory stops changing and returns it. With `reset_peak`, the peak is
/// measured from here on.
pub(crate) async fn wait_until_settled(gateway: &Gateway, reset_peak: bool) -> io::Result<u64> {
    let (mut last, mut equal, started) = (0, 0, Instant::now());
    while equal < EQUAL_READINGS && started.elapsed() < TIMEOUT {
        sleep(INTERVAL).await;
        let resident = gateway.memory()?.resident;
        equal = if resident.abs_diff(last) < 1 << 20 { equal + 1 } else { 0 };
        last = resident;
    }
    if reset_peak {
        gateway.forget_peak()?;
    }
    Ok(last)
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("{row}");
        self.rows.push(row);
    }

    /// Whether every load stayed within the bound.
    pub(crate) fn is_within_bound(&self) -> bool {
        self.rows.iter().all(Row::is_within_bound)
    }
}

impl Row {
    /// Completes a row after its load has ended: waits until memory settles and reads it.
    pub(crate) async fn measure(
        gateway: &Gateway,
        load: &'static str,
        (before, peak): (u64, u64),
        requested: u64,
    ) -> io::Result<Self> {
        sleep(RELEASE_DELAY).await;
        Ok(Self { load, requested, before, peak, after: wait_until_settled(gateway, false).await? })
    }

    fn excess(&self) -> u64 {
        self.peak.saturating_sub(self.before).saturating_sub(self.requested)
    }

    fn is_within_bound(&self) -> bool {
        self.excess() < ALLOWED && self.after.saturating_sub(self.before) < ALLOWED
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [requested, before, peak, beyond, after] =
            [self.requested, self.before, self.peak, self.excess(), self.after].map(megabytes);
        let verdict = if self.is_within_bound() { "" } else { " too much" };
        let load = self.load;
        write!(f, "| {load} | {requested} | {before} | {peak} | {beyond} | {after} |{verdict}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| MB | requested | before | peak | peak beyond both | after |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        write!(f, "allowed beyond the requested bytes, and after: {} MB", megabytes(ALLOWED))
    }
}

fn megabytes(bytes: u64) -> u64 {
    bytes / 1_000_000
}
