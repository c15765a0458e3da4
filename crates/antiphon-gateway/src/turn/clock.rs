//! The times of a turn.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Measures a turn. The stages mark its times, in any order and from any task.
#[derive(Debug)]
pub(super) struct TurnClock {
    begun: Instant,
    /// Nanoseconds that the turn waited for other turns.
    waited: AtomicU64,
    asked: Mark,
    first_event: Mark,
    answered: Mark,
}

/// A point in time, in nanoseconds after the beginning; 0 if it is not reached.
#[derive(Debug, Default)]
struct Mark(AtomicU64);

/// The durations of a turn until its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnTimes {
    /// From the request, when it was read, to the end of the turn.
    pub(crate) total: Duration,
    /// Until the first event was sent to the client; `None` without events.
    pub(crate) first_event: Option<Duration>,
    /// The wait for other turns of the conversation or of the same request.
    pub(crate) waited: Duration,
    /// The work of the gateway before the first request to the upstream and after the end of its
    /// answer: loading, reconciling, storing. Neither waits for other turns nor the answer count.
    pub(crate) own: Duration,
}

impl TurnClock {
    /// Starts the clock.
    pub(super) fn start() -> Self {
        Self {
            begun: Instant::now(),
            waited: AtomicU64::default(),
            asked: Mark::default(),
            first_event: Mark::default(),
            answered: Mark::default(),
        }
    }

    /// Awaits other turns.
    pub(super) async fn wait<T>(&self, waiting: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let outcome = waiting.await;
        self.waited.fetch_add(nanoseconds(begun.elapsed()), Ordering::Relaxed);
        outcome
    }

    /// Marks the first request to the upstream. Later requests change nothing.
    pub(super) fn mark_asked(&self) {
        self.asked.set_once(self.begun.elapsed());
    }

    /// Marks the first event that is sent to the client. Later events change nothing.
    pub(super) fn mark_event(&self) {
        self.first_event.set_once(self.begun.elapsed());
    }

    /// Marks the end of the upstream's answer.
    pub(super) fn mark_answered(&self) {
        self.answered.set(self.begun.elapsed());
    }

    /// The times of a turn that ends now.
    pub(super) fn times(&self) -> TurnTimes {
        self.times_after(self.begun.elapsed())
    }

    /// The times of a turn that ends after this time.
    fn times_after(&self, total: Duration) -> TurnTimes {
        let waited = Duration::from_nanos(self.waited.load(Ordering::Relaxed));
        let answer = match (self.asked.get(), self.answered.get()) {
            (Some(asked), Some(answered)) => answered.saturating_sub(asked),
            (Some(asked), None) => total.saturating_sub(asked),
            (None, _) => Duration::ZERO,
        };
        let own = total.saturating_sub(waited).saturating_sub(answer);
        TurnTimes { total, first_event: self.first_event.get(), waited, own }
    }
}

impl Mark {
    fn set_once(&self, after: Duration) {
        if self.0.load(Ordering::Relaxed) == 0 {
            self.set(after);
        }
    }

    fn set(&self, after: Duration) {
        self.0.store(nanoseconds(after).max(1), Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            nanoseconds => Some(Duration::from_nanos(nanoseconds)),
        }
    }
}

/// The nanoseconds of a duration, up to 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn own_time_excludes_waits_and_the_answer() {
        let clock = TurnClock::start();
        clock.waited.store(nanoseconds(5 * SECOND), Ordering::Relaxed);
        clock.asked.set_once(6 * SECOND);
        clock.first_event.set_once(16 * SECOND);
        clock.asked.set_once(17 * SECOND);
        clock.first_event.set_once(18 * SECOND);
        clock.answered.set(36 * SECOND);

        let times = clock.times_after(38 * SECOND);

        assert_eq!((times.total, times.waited), (38 * SECOND, 5 * SECOND));
        assert_eq!((times.first_event, times.own), (Some(16 * SECOND), 3 * SECOND));
    }

    #[test]
    fn time_of_a_turn_without_a_model_is_the_gateways_own() {
        let expected = TurnTimes { total: SECOND, own: SECOND, ..TurnTimes::default() };
        assert_eq!(TurnClock::start().times_after(SECOND), expected);
    }

    #[test]
    fn time_of_an_unfinished_answer_is_not_the_gateways_own() {
        let clock = TurnClock::start();
        clock.asked.set_once(SECOND);
        assert_eq!(clock.times_after(9 * SECOND).own, SECOND);
    }
}
