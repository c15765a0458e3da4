//! What was measured.

use std::time::Duration;
use std::{fmt, io};

use antiphon_testkit::process::Gateway;
use tokio::time::{Instant, sleep};

/// The rows of the table.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

/// What one load came to, in bytes.
pub(crate) struct Row {
    load: &'static str,
    /// The bytes that were asked for.
    asked: u64,
    /// Resident memory before the load.
    before: u64,
    peak: u64,
    /// Resident memory once the load is gone.
    after: u64,
}

/// What a load may take beyond the bytes that are asked for, and what may stay once it is gone.
const ALLOWED: u64 = 100_000_000;

/// How often memory is read, and how often it has to be the same to count as settled.
const INTERVAL: Duration = Duration::from_millis(250);
const EQUAL: u32 = 8;
const LONGEST: Duration = Duration::from_mins(1);

/// How long an allocator has to give memory back to the system.
const GIVEN_BACK: Duration = Duration::from_secs(12);

/// Waits until the gateway's memory no longer changes; gives it, and makes it the peak where `anew`.
pub(crate) async fn settled(gateway: &Gateway, anew: bool) -> io::Result<u64> {
    let (mut last, mut equal, started) = (0, 0, Instant::now());
    while equal < EQUAL && started.elapsed() < LONGEST {
        sleep(INTERVAL).await;
        let resident = gateway.memory()?.resident;
        equal = if resident.abs_diff(last) < 1 << 20 { equal + 1 } else { 0 };
        last = resident;
    }
    if anew {
        gateway.forget_peak()?;
    }
    Ok(last)
}

impl Report {
    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("{row}");
        self.rows.push(row);
    }

    /// Whether every load stayed within what is allowed.
    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }
}

impl Row {
    /// Of a load that is gone: reads what is resident once memory has settled again.
    pub(crate) async fn of(
        gateway: &Gateway,
        load: &'static str,
        (before, peak): (u64, u64),
        asked: u64,
    ) -> io::Result<Self> {
        sleep(GIVEN_BACK).await;
        Ok(Self { load, asked, before, peak, after: settled(gateway, false).await? })
    }

    fn beyond(&self) -> u64 {
        self.peak.saturating_sub(self.before).saturating_sub(self.asked)
    }

    fn holds(&self) -> bool {
        self.beyond() < ALLOWED && self.after.saturating_sub(self.before) < ALLOWED
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [asked, before, peak, beyond, after] =
            [self.asked, self.before, self.peak, self.beyond(), self.after].map(megabytes);
        let verdict = if self.holds() { "" } else { " too much" };
        let load = self.load;
        write!(f, "| {load} | {asked} | {before} | {peak} | {beyond} | {after} |{verdict}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| MB | asked for | before | peak | peak beyond both | after |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        self.rows.iter().try_for_each(|row| writeln!(f, "{row}"))?;
        write!(f, "allowed beyond what is asked for, and after: {} MB", megabytes(ALLOWED))
    }
}

fn megabytes(bytes: u64) -> u64 {
    bytes / 1_000_000
}
