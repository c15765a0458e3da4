//! The source of identifiers and of the current time, and time limits.

use std::cell::RefCell;
use std::time::{Duration, UNIX_EPOCH};

use antiphon::IdSource;
use tokio::time::Instant;

/// Creates identifiers from the operating system's random numbers.
///
/// Identifiers that a store sorts by begin with the time, in units of 2^-16 seconds, as those of
/// some providers begin with the second. The time takes 12 of their hexadecimal digits, and the
/// other ones are random.
#[derive(Clone, Copy, Debug)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        RESERVE.with_borrow_mut(|reserve| reserve.fill(bytes));
    }

    fn fill_in_order(&mut self, bytes: &mut [u8]) {
        let (time, random) = bytes.split_at_mut(TIME_BYTES.min(bytes.len()));
        time.copy_from_slice(&id_time(since_1970())[..time.len()]);
        self.fill(random);
    }
}

const TIME_BYTES: usize = 6;

/// The time in units of 2^-16 seconds, without the bits that do not fit.
fn id_time(since: Duration) -> [u8; TIME_BYTES] {
    let fraction = (u64::from(since.subsec_nanos()) << 16) / 1_000_000_000;
    let [_, _, time @ ..] = (since.as_secs() << 16 | fraction).to_be_bytes();
    time
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
pub fn unix_now() -> i64 {
    i64::try_from(since_1970().as_secs()).unwrap_or(0)
}

/// The time in nanoseconds since 1970.
pub(crate) fn unix_nanos() -> u64 {
    u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
fn since_1970() -> Duration {
    std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
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

    #[test]
    fn issued_ids_begin_with_the_time() {
        let early = Duration::from_millis(1_700_000_000_500);
        assert_eq!(id_time(early), [0x65, 0x53, 0xf1, 0x00, 0x80, 0x00]);
        assert!(id_time(early) < id_time(early + Duration::from_micros(16)));
    }

    #[test]
    fn issued_ids_differ_and_have_48_digits() {
        let ids = [RandomIds.issue("msg"), RandomIds.issue("msg")];
        for id in &ids {
            let digits = id.strip_prefix("msg_").unwrap();
            assert!(digits.len() == 48 && digits.bytes().all(|it| it.is_ascii_hexdigit()), "{id}");
        }
        assert_ne!(ids[0][16..], ids[1][16..]);
    }
}
