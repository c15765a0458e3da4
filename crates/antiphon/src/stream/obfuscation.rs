//! What hides how long the pieces of a text are from who watches an encrypted connection.
//!
//! Source: the provider's reference on `stream_options.include_obfuscation`: deltas carry a field
//! `obfuscation` of random characters that makes their sizes alike.

use super::fields::in_one_line;
use super::{Event, emitter};
use crate::json::Object;

/// What is done to the `obfuscation` of deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Obfuscation {
    /// It is there where the upstream sent it.
    #[default]
    AsItComes,
    /// Every delta has it: with it a delta is a multiple of 16 bytes long.
    Padded,
    /// No delta has it.
    Plain,
}

const FIELD: &str = "obfuscation";
/// What a delta and its padding are a multiple of, in bytes.
const STEP: usize = 16;

impl Obfuscation {
    /// The event as this caller gets it. Whatever is no delta, and a delta that is as it should be, stays
    /// the bytes that it is. The padding follows from the event: it is its length that hides something,
    /// not what it says, and an event that is given again is the same.
    #[must_use]
    pub fn applied_to(self, event: Event) -> Event {
        if self == Self::AsItComes || !event.kind.ends_with(".delta") {
            return event;
        }
        let Ok(mut delta) = Object::parse(&event.data) else { return event };
        let has_it = delta.get(FIELD).is_some();
        match self {
            Self::Padded if !has_it => {
                let seed = delta.get(emitter::NUMBER).and_then(|number| number.parse().ok());
                let length = delta.get("delta").map_or(0, |raw| raw.len().saturating_sub(2));
                delta.set_string(FIELD, &padding(seed.unwrap_or_default(), length));
            }
            Self::Plain if has_it => delta.remove(FIELD),
            _ => return event,
        }
        let data = in_one_line(delta.to_text());
        Event { data, ..event }
    }
}

/// Letters and digits up to the next multiple of the step: at least one.
fn padding(seed: u64, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed;
    let letter = |_| {
        // SplitMix64, of which the upper bits are the best.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        char::from(LETTERS[usize::from((mixed >> 48) as u16) % LETTERS.len()])
    };
    (0..STEP - length % STEP).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn delta(data: &'static str) -> Event {
        Event {
            kind: "response.output_text.delta".into(),
            data: Bytes::from_static(data.as_bytes()),
        }
    }

    fn padding_of(event: &Event) -> Option<String> {
        Object::parse(&event.data).unwrap().string(FIELD).map(std::borrow::Cow::into_owned)
    }

    #[test]
    fn every_delta_is_made_as_long_as_others() {
        let texts = [
            r#"{"sequence_number":4,"delta":""}"#,
            r#"{"sequence_number":5,"delta":"Hello there, you"}"#,
        ];
        for text in texts {
            assert_eq!(padding_of(&Obfuscation::Padded.applied_to(delta(text))).unwrap().len(), 16);
        }
        let short =
            Obfuscation::Padded.applied_to(delta(r#"{"sequence_number":6,"delta":"Hello"}"#));
        assert_eq!(padding_of(&short).unwrap().len(), 11);
    }

    #[test]
    fn what_an_upstream_sent_stays_unless_it_is_not_wanted() {
        let sent = delta(r#"{"delta":"Hello","obfuscation":"aB3"}"#);
        for obfuscation in [Obfuscation::AsItComes, Obfuscation::Padded] {
            assert_eq!(obfuscation.applied_to(sent.clone()), sent);
        }
        assert_eq!(Obfuscation::Plain.applied_to(sent), delta(r#"{"delta":"Hello"}"#));
    }

    #[test]
    fn other_events_stay_as_they_are() {
        let done =
            Event { kind: "response.output_text.done".into(), ..delta(r#"{"text":"Hello"}"#) };
        assert_eq!(Obfuscation::Padded.applied_to(done.clone()), done);
    }
}
