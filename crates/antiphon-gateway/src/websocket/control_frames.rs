//! Rate limit for the control frames of a client.

use std::time::Duration;

use tokio::time::Instant;

/// A leaky bucket of pings and pongs. The gateway answers every ping: without a limit, a client
/// could keep a connection busy with pings.
pub(super) struct ControlFrames {
    /// The number of frames that may arrive now.
    left: u32,
    counted_from: Instant,
}

/// The maximum number of frames at once. A client may send so many after its connection was busy.
const BURST: u32 = 100;
/// The average time per frame.
const PERIOD: Duration = Duration::from_millis(100);

impl ControlFrames {
    /// A full bucket.
    pub(super) fn new(now: Instant) -> Self {
        Self { left: BURST, counted_from: now }
    }

    /// Counts a frame, and returns whether it is within the limit.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        self.refill(now);
        let is_admitted = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_admitted
    }

    fn refill(&mut self, now: Instant) {
        let periods =
            now.saturating_duration_since(self.counted_from).as_millis() / PERIOD.as_millis();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(periods).min(BURST);
        match self.left {
            BURST => self.counted_from = now,
            _ => self.counted_from += PERIOD * periods,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_is_admitted_then_ten_per_second() {
        let start = Instant::now();
        let mut frames = ControlFrames::new(start);
        assert!((0..BURST).all(|_| frames.admit(start)));
        assert!(!frames.admit(start));
        assert!(!frames.admit(start + PERIOD / 2));
        assert!(frames.admit(start + PERIOD));
        assert!(!frames.admit(start + PERIOD));

        let later = start + Duration::from_hours(1);
        assert!((0..BURST).all(|_| frames.admit(later)));
        assert!(!frames.admit(later));
    }
}
