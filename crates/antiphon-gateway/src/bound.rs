//! Bounds on time, of any length: who wants none gives the longest duration there is.

use std::time::Duration;

use tokio::time::Instant;

/// The longest bound that is kept, about thirty years: sums with longer ones may overflow.
pub(crate) const LONGEST: Duration = Duration::from_hours(24 * 365 * 30);

/// When a bound that begins now is reached.
pub(crate) fn from_now(bound: Duration) -> Instant {
    Instant::now() + bound.min(LONGEST)
}
