//! Padding that hides the lengths of deltas from an observer of the encrypted connection.
//!
//! Source: the provider's reference on `stream_options.include_obfuscation`: deltas carry a field
//! `obfuscation` with random characters, which normalizes their sizes.

use super::fields::in_one_line;
use super::{Event, emitter};
use crate::json::Object;

/// The treatment of the `obfuscation` field of deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Obfuscation {
    /// The upstream's field is forwarded.
    #[default]
    AsItComes,
    /// Every delta has the field: text and padding together are a multiple of 16 bytes long.
    Padded,
    /// The field is removed from every delta.
    Plain,
}

const FIELD: &str = "obfuscation";
/// The length of a delta and its padding is a multiple of this number of bytes.
const STEP: usize = 16;

impl Obfuscation {
    /// Adds or removes the padding of a delta. Other events, and deltas that are already correct,
    /// are returned unchanged.
    ///
    /// The padding is derived from the event, so a replayed event is the same. That is enough: the
    /// length hides something, the characters do not.
    #[must_use]
    pub fn apply_to(self, event: Event) -> Event {
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

/// Letters and digits up to the next multiple of [`STEP`], at least one.
fn padding(seed: u64, length: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed;
    let letter = |_| {
        // SplitMix64; its upper bits are the best ones.
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
    fn padded_deltas_have_equal_length() {
        let texts = [
            r#"{"sequence_number":4,"delta":""}"#,
            r#"{"sequence_number":5,"delta":"Hello there, you"}"#,
        ];
        for text in texts {
            assert_eq!(padding_of(&Obfuscation::Padded.apply_to(delta(text))).unwrap().len(), 16);
        }
        let short = Obfuscation::Padded.apply_to(delta(r#"{"sequence_number":6,"delta":"Hello"}"#));
        assert_eq!(padding_of(&short).unwrap().len(), 11);
    }

    #[test]
    fn upstream_obfuscation_stays_unless_plain() {
        let sent = delta(r#"{"delta":"Hello","obfuscation":"aB3"}"#);
        for obfuscation in [Obfuscation::AsItComes, Obfuscation::Padded] {
            assert_eq!(obfuscation.apply_to(sent.clone()), sent);
        }
        assert_eq!(Obfuscation::Plain.apply_to(sent), delta(r#"{"delta":"Hello"}"#));
    }

    #[test]
    fn events_other_than_deltas_are_unchanged() {
        let done =
            Event { kind: "response.output_text.done".into(), ..delta(r#"{"text":"Hello"}"#) };
        assert_eq!(Obfuscation::Padded.apply_to(done.clone()), done);
    }
}
