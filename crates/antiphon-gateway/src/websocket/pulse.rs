//! Liveness of the peer.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::bound::LONGEST;

/// The pings of a connection. They prevent proxies from closing an idle connection, and detect a
/// peer that is gone.
pub(super) struct Pulse {
    beat: Interval,
    heard: Instant,
    most_silence: Duration,
}

/// The maximum number of unanswered pings. Clients that read only while a turn is open do not
/// answer while they run a tool.
const UNANSWERED: u32 = 20;
/// The minimum time between two pings.
const SHORTEST: Duration = Duration::from_millis(10);

impl Pulse {
    /// The pulse of a connection, at twice the frequency that `client_timeout` requires.
    pub(super) fn new(client_timeout: Duration) -> Self {
        let period = (client_timeout.min(LONGEST) / 2).max(SHORTEST);
        let now = Instant::now();
        let mut beat = interval_at(now + period, period);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { beat, heard: now, most_silence: period.saturating_mul(UNANSWERED) }
    }

    /// Records a sign of life from the peer.
    pub(super) fn hear(&mut self) {
        self.heard = Instant::now();
    }

    /// Waits until the next ping is due. Cancel safe.
    pub(super) async fn beat(&mut self) -> Beat {
        let now = self.beat.tick().await;
        self.due(now)
    }

    fn due(&self, now: Instant) -> Beat {
        match now.saturating_duration_since(self.heard) > self.most_silence {
            true => Beat::Gone,
            false => Beat::Ping(Bytes::new()),
        }
    }
}

/// The action that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beat {
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
        let mut pulse = Pulse::new(Duration::from_mins(1));
        let begun = pulse.heard;
        assert_eq!(pulse.due(begun + Duration::from_mins(10)), Beat::Ping(Bytes::new()));
        assert_eq!(pulse.due(begun + Duration::from_secs(601)), Beat::Gone);

        pulse.heard = begun + Duration::from_mins(5);
        assert_eq!(pulse.due(begun + Duration::from_mins(15)), Beat::Ping(Bytes::new()));
    }
}
