//! Whether anybody is at the other end.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::bound::LONGEST;

/// The pings of a connection. They keep whatever lies between from closing it, and find out that the
/// other end is gone.
pub(super) struct Pulse {
    beat: Interval,
    heard: Instant,
    most_silence: Duration,
}

/// How many pings may stay unanswered. Clients that read only while a turn is open answer none while
/// they run a tool.
const UNANSWERED: u32 = 20;
/// The shortest time between two pings.
const SHORTEST: Duration = Duration::from_millis(10);

impl Pulse {
    /// Of a connection that takes what it is sent within `client_timeout`: twice as often.
    pub(super) fn new(client_timeout: Duration) -> Self {
        let period = (client_timeout.min(LONGEST) / 2).max(SHORTEST);
        let now = Instant::now();
        let mut beat = interval_at(now + period, period);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { beat, heard: now, most_silence: period.saturating_mul(UNANSWERED) }
    }

    /// Something came from the other end.
    pub(super) fn hear(&mut self) {
        self.heard = Instant::now();
    }

    /// Waits until it is time for a ping. Dropped before, nothing is lost.
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

/// What it is time for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    /// A ping that says this.
    Ping(Bytes),
    /// To give up: nothing came for too long.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_answers_nothing_for_long_is_gone_and_who_does_is_not() {
        let mut pulse = Pulse::new(Duration::from_mins(1));
        let begun = pulse.heard;
        assert_eq!(pulse.due(begun + Duration::from_mins(10)), Beat::Ping(Bytes::new()));
        assert_eq!(pulse.due(begun + Duration::from_secs(601)), Beat::Gone);

        pulse.heard = begun + Duration::from_mins(5);
        assert_eq!(pulse.due(begun + Duration::from_mins(15)), Beat::Ping(Bytes::new()));
    }
}
