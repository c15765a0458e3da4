//! The clock of this machine, compared with those of the upstreams.

use super::finding::Finding;

/// The largest difference in seconds that needs no action.
const TOLERANCE: i64 = 30;

/// The times of a server and of this machine, when an answer arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dates {
    pub(super) server: String,
    /// Seconds since 1970.
    pub(super) theirs: i64,
    /// Seconds since 1970.
    pub(super) ours: i64,
}

impl Dates {
    /// Positive if the clock of this machine is ahead.
    fn difference(&self) -> i64 {
        self.ours - self.theirs
    }
}

/// Compares this machine's clock with the upstream whose clock is nearest to it.
pub(super) fn check(dates: &[Dates]) -> Finding {
    const CHECK: &str = "clock";
    let Some(nearest) = dates.iter().min_by_key(|dates| dates.difference().abs()) else {
        return Finding::ok(CHECK, "not compared, because no upstream sent its time");
    };
    let (seconds, server) = (nearest.difference(), &nearest.server);
    if seconds.abs() <= TOLERANCE {
        return Finding::ok(CHECK, format!("within {TOLERANCE} seconds of the clock of {server}"));
    }
    let direction = if seconds > 0 { "ahead of" } else { "behind" };
    let detail = format!("{} seconds {direction} the clock of {server}", seconds.abs());
    Finding::warning(CHECK, detail).next("Synchronize the clock of this machine, with NTP.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(ours: &[i64]) -> String {
        let dates = |&ours| Dates { server: "models.example".to_owned(), theirs: 1000, ours };
        check(&ours.iter().map(dates).collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn difference_above_30_seconds_is_a_warning() {
        let within = "ok       clock: within 30 seconds of the clock of models.example.";
        assert_eq!(sentence(&[1030]), within);
        assert_eq!(sentence(&[970]), within);
        let next = "Synchronize the clock of this machine, with NTP.";
        let ahead = "warning  clock: 31 seconds ahead of the clock of models.example.";
        assert_eq!(sentence(&[1031]), format!("{ahead} {next}"));
        let behind = "warning  clock: 40 seconds behind the clock of models.example.";
        assert_eq!(sentence(&[960]), format!("{behind} {next}"));
    }

    #[test]
    fn one_server_with_the_same_time_is_enough() {
        assert!(sentence(&[5000, 1001]).starts_with("ok "));
    }
}
