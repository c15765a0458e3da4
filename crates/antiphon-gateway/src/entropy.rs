//! The source of identifiers and of the current time, and time limits.

use std::cell::RefCell;
use std::time::{Duration, UNIX_EPOCH};

use antiphon::IdSource;
use tokio::time::Instant;

/// Creates identifiers from the operating system's random numbers.
#[derive(Clone, Copy, Debug)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        RESERVE.with_borrow_mut(|reserve| reserve.fill(bytes));
    }
}

/// How many random bytes a thread requests at once: enough for the ids of several turns.
const RESERVED: usize = 512;

thread_local! {
    static RESERVE: RefCell<Reserve> = const { RefCell::new(Reserve([0; RESERVED], RESERVED)) };
}

/// Random bytes, and the number of those that were used. Each byte is used once.
struct Reserve([u8; RESERVED], usize);

impl Reserve {
    fn fill(&mut self, bytes: &mut [u8]) {
        let Self(reserved, used) = self;
        if bytes.len() > RESERVED {
            return request(bytes);
        }
        if RESERVED - *used < bytes.len() {
            request(reserved);
            *used = 0;
        }
        let taken = &mut reserved[*used..*used + bytes.len()];
        bytes.copy_from_slice(taken);
        taken.fill(0);
        *used += bytes.len();
    }
}

/// Requests random bytes from the operating system.
fn request(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system has random numbers");
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_byte_of_the_reserve_is_used_twice() {
        let ids = (0..1000).map(|_| {
            let mut id = [0; 24];
            RandomIds.fill(&mut id);
            id
        });
        assert_eq!(ids.collect::<HashSet<_>>().len(), 1000);
    }

    #[test]
    fn long_request_is_filled() {
        let mut bytes = [0; 2 * RESERVED];
        RandomIds.fill(&mut bytes);
        assert!(bytes.chunks(64).all(|part| part != [0; 64]));
    }
}
