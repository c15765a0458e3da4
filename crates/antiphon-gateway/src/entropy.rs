//! The source of identifiers and of the current time, and time limits.

use std::time::{Duration, UNIX_EPOCH};

use antiphon::IdSource;
use tokio::time::Instant;

/// Creates identifiers from the operating system's random numbers.
#[derive(Clone, Copy, Debug)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has random numbers");
    }
}

/// A random byte.
pub(crate) fn random_byte() -> u8 {
    let mut byte = [0];
    RandomIds.fill(&mut byte);
    byte[0]
}

/// The time in Unix seconds.
#[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
pub fn unix_now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
}

/// The longest effective time limit, about thirty years: sums with longer durations may overflow.
/// [`Duration::MAX`] means no limit.
pub(crate) const MAX_TIME_LIMIT: Duration = Duration::from_hours(24 * 365 * 30);

/// The end of a time limit that starts now.
pub(crate) fn from_now(bound: Duration) -> Instant {
    Instant::now() + bound.min(MAX_TIME_LIMIT)
}
