//! Detects events that an upstream repeats.

use std::collections::VecDeque;

/// Number of the most recent events that are remembered.
const REMEMBERED: usize = 32;

/// Recognizes repeated Responses events by `sequence_number` and content.
///
/// A proxy may deliver an event twice, or repeat part of a stream after a reconnect. Some servers
/// give every event the number 0, or start again with each item. Once two different events have the
/// same number, the numbers are ignored and no event counts as repeated.
#[derive(Debug, Default)]
pub(super) struct RepeatDetector {
    /// The most recent events: number and digest.
    recent: VecDeque<(u64, u64)>,
    has_gaps: bool,
    is_unreliable: bool,
}

impl RepeatDetector {
    /// Whether an event with this number and these bytes was seen before.
    pub(super) fn is_repeated(&mut self, number: u64, data: &[u8]) -> bool {
        if self.is_unreliable {
            return false;
        }
        let digest = digest(data);
        match self.recent.back() {
            Some((last, _)) if number <= *last => {
                let is_repeated = self.is_known(number, digest);
                self.is_unreliable = !is_repeated;
                is_repeated
            }
            last => {
                self.has_gaps |= last.is_some_and(|(last, _)| number != last + 1);
                self.remember(number, digest);
                false
            }
        }
    }

    /// If the numbers have no gaps, every number up to the last one was seen.
    fn is_known(&self, number: u64, digest: u64) -> bool {
        match self.recent.iter().find(|(known, _)| *known == number) {
            Some((_, known)) => *known == digest,
            None => !self.has_gaps && self.recent.len() == REMEMBERED,
        }
    }

    fn remember(&mut self, number: u64, digest: u64) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((number, digest));
    }
}

/// A digest that distinguishes the events of one stream. It reads eight bytes at a time.
fn digest(data: &[u8]) -> u64 {
    let mix =
        |digest: u64, word: u64| (digest.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = data.as_chunks::<8>();
    let digest =
        words.iter().fold(data.len() as u64, |it, word| mix(it, u64::from_le_bytes(*word)));
    rest.iter().fold(digest, |it, byte| mix(it, u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(events: &[(u64, &str)]) -> Vec<bool> {
        let mut repeats = RepeatDetector::default();
        events.iter().map(|(number, data)| repeats.is_repeated(*number, data.as_bytes())).collect()
    }

    #[test]
    fn identical_event_is_repeated() {
        let events = [(0, "a"), (0, "a"), (1, "b"), (2, "c"), (1, "b"), (2, "c"), (3, "c")];
        assert_eq!(repeated(&events), [false, true, false, false, true, true, false]);
    }

    #[test]
    fn restarted_stream_is_repeated_at_any_length() {
        let mut repeats = RepeatDetector::default();
        assert!((0..100).all(|number| !repeats.is_repeated(number, b"x")));
        assert!((0..100).all(|number| repeats.is_repeated(number, b"x")));
        assert!(!repeats.is_repeated(100, b"x"));
    }

    #[test]
    fn unreliable_numbers_repeat_nothing() {
        assert_eq!(repeated(&[(0, "a"), (0, "b"), (0, "b"), (0, "b")]), [false; 4]);
        assert_eq!(repeated(&[(0, "a"), (1, "b"), (0, "c"), (1, "b")]), [false; 4]);
        let counted_by_tens: Vec<(u64, &str)> = (0..50).map(|it| (it * 10, "a")).collect();
        let with_an_old_one = [&counted_by_tens[..], &[(5, "b")]].concat();
        assert_eq!(repeated(&with_an_old_one), vec![false; 51]);
    }
}
