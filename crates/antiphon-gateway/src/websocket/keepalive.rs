//! Detects a peer that is gone.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::entropy::MAX_TIME_LIMIT;

/// The pings of a connection. They prevent proxies from closing an idle connection, and detect a
/// peer that is gone.
pub(super) struct Keepalive {
    interval: Interval,
    last_activity: Instant,
    max_silence: Duration,
}

/// The maximum number of unanswered pings. Clients that read only while a turn is open do not
/// answer while they run a tool.
const UNANSWERED: u32 = 20;
/// The minimum time between two pings.
const SHORTEST: Duration = Duration::from_millis(10);

impl Keepalive {
    /// Creates the pings of a connection, at twice the frequency that `client_timeout` requires.
    pub(super) fn new(client_timeout: Duration) -> Self {
        let period = (client_timeout.min(MAX_TIME_LIMIT) / 2).max(SHORTEST);
        let now = Instant::now();
        let mut interval = interval_at(now + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, last_activity: now, max_silence: period.saturating_mul(UNANSWERED) }
    }

    /// Records that the peer sent something.
    pub(super) fn record_activity(&mut self) {
        self.last_activity = Instant::now();
    }

    /// Waits until the next ping is due. Cancel safe.
    pub(super) async fn next(&mut self) -> KeepaliveAction {
        let now = self.interval.tick().await;
        self.due(now)
    }

    fn due(&self, now: Instant) -> KeepaliveAction {
        match now.saturating_duration_since(self.last_activity) > self.max_silence {
            true => KeepaliveAction::Gone,
            false => KeepaliveAction::Ping(Bytes::new()),
        }
    }
}

/// The action that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeepaliveAction {
    /// Send a ping with this payload.
    Ping(Bytes),
    /// Give up: the peer was silent for too long.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_silent_clients_are_disconnected() {
        let mut keepalive = Keepalive::new(Duration::from_mins(1));
        let begun = keepalive.last_activity;
        assert_eq!(
            keepalive.due(begun + Duration::from_mins(10)),
            KeepaliveAction::Ping(Bytes::new())
        );
        assert_eq!(keepalive.due(begun + Duration::from_secs(601)), KeepaliveAction::Gone);

        keepalive.last_activity = begun + Duration::from_mins(5);
        assert_eq!(
            keepalive.due(begun + Duration::from_mins(15)),
            KeepaliveAction::Ping(Bytes::new())
        );
    }
}
