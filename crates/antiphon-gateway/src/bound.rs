//! Time limits. The longest possible duration means no limit.

use std::time::Duration;

use tokio::time::Instant;

/// The longest effective limit, about thirty years. Sums with longer durations may overflow.
pub(crate) const LONGEST: Duration = Duration::from_hours(24 * 365 * 30);

/// The end of a time limit that starts now.
pub(crate) fn from_now(bound: Duration) -> Instant {
    Instant::now() + bound.min(LONGEST)
}
