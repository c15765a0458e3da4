//! The measured memory and times.

use std::{fmt, io};

use antiphon_testkit::process::Memory;

use crate::load::Step;

/// The gateway's memory after each step, and the failures.
pub(crate) struct Report {
    pub(crate) count: usize,
    /// Before the streams were opened.
    pub(crate) before: Memory,
    pub(crate) opened: Step,
    pub(crate) advanced: Step,
    pub(crate) ended: Step,
    /// The number of streams that completed.
    pub(crate) whole: usize,
    pub(crate) failures: Vec<io::Error>,
}

impl Report {
    pub(crate) fn has_failures(&self) -> bool {
        self.whole < self.count || !self.failures.is_empty()
    }

    /// The memory that each stream added, in bytes.
    fn bytes_per_stream(&self, memory: Memory) -> u64 {
        memory.resident.saturating_sub(self.before.resident) / self.count.max(1) as u64
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, what: &str, step: &Step) -> fmt::Result {
        let (seconds, resident) = (step.took.as_secs_f64(), mebibytes(step.memory.resident));
        let each = self.bytes_per_stream(step.memory);
        writeln!(f, "{what:<28} {seconds:>8.2} {resident:>8.1} {each:>14}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, seconds, resident, each] =
            [&*format!("{} streams", self.count), "seconds", "MiB", "bytes/stream"];
        writeln!(f, "{what:<28} {seconds:>8} {resident:>8} {each:>14}")?;
        writeln!(f, "{:<28} {:>8} {:>8.1}", "none", "", mebibytes(self.before.resident))?;
        self.row(f, "all opened, idle", &self.opened)?;
        self.row(f, "all read one more event", &self.advanced)?;
        self.row(f, "all ended", &self.ended)?;
        writeln!(f, "{:<28} {:>8} {:>8.1}", "peak", "", mebibytes(self.ended.memory.peak))?;
        write!(f, "completed {}, failed {}", self.whole, self.count - self.whole)?;
        self.failures.first().map_or(Ok(()), |error| write!(f, "\nfirst failure: {error}"))
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with one decimal")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
