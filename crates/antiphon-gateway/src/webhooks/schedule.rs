//! The retry schedule of failed attempts.

use std::time::Duration;

/// The delays after each attempt, in seconds. Source: the example of Standard Webhooks, about three
/// days.
const WAITS: [u64; 9] =
    [5, 5 * 60, 30 * 60, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const HOUR: u64 = 60 * 60;

/// The longest delay that an endpoint can request.
const LONGEST: Duration = Duration::from_secs(24 * HOUR);

/// After this number of attempts, an endpoint can no longer request a delay shorter than scheduled.
/// An endpoint that always requests one second would otherwise use up all attempts in an outage.
const SOONER: u32 = 3;

/// The delay after attempt number `attempt`, from 1. `None` after the last attempt.
///
/// A delay requested by the endpoint is used within bounds. `jitter` adds up to a tenth, so that
/// notices that failed together are not retried together.
pub(super) fn wait(attempt: u32, told: Option<Duration>, jitter: u8) -> Option<Duration> {
    let behind = usize::try_from(attempt).ok()?.checked_sub(1)?;
    let planned = Duration::from_secs(*WAITS.get(behind)?);
    let spread = planned * u32::from(jitter) / 2560;
    let least = if attempt <= SOONER { Duration::ZERO } else { planned };
    Some(told.map_or(planned + spread, |told| told.clamp(least, LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_ten_attempts_over_three_days() {
        let waits: Vec<u64> =
            (1..).map_while(|attempt| wait(attempt, None, 0)).map(|wait| wait.as_secs()).collect();
        assert_eq!(waits, WAITS);
        assert_eq!(wait(10, Some(Duration::from_secs(1)), 0), None);
        assert_eq!(waits.iter().sum::<u64>() / HOUR, 75);
    }

    #[test]
    fn requested_delay_is_bounded() {
        let told = |seconds| wait(1, Some(Duration::from_secs(seconds)), 255);
        assert_eq!(told(0), Some(Duration::ZERO));
        assert_eq!(told(90), Some(Duration::from_secs(90)));
        assert_eq!(told(u64::MAX), Some(LONGEST));
    }

    #[test]
    fn requested_short_delays_do_not_use_up_attempts() {
        let soon = Some(Duration::from_secs(1));
        let waits = (1..).map_while(|attempt| wait(attempt, soon, 0)).map(|wait| wait.as_secs());
        assert_eq!(waits.sum::<u64>() / HOUR, 75);
    }

    #[test]
    fn retries_are_spread_over_time() {
        let [none, most] = [0, 255].map(|jitter| wait(2, None, jitter).unwrap());
        assert_eq!(none, Duration::from_mins(5));
        assert!(most > none && most <= Duration::from_secs(330), "{most:?}");
    }
}
