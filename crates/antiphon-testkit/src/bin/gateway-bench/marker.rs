//! Marks in the text of items, by which the upstream recognizes each item of a conversation.
//!
//! A user's item contains `~u3.2.17~`: conversation 3, turn 2, after the answer 17. The model's
//! item contains `~a0000000000000017~`. The user's marks of a request name all earlier answers, so
//! a request can be judged without stored state.

use std::fmt;

/// The mark of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    User {
        conversation: u64,
        /// Counted from 1.
        turn: u64,
        /// The last answer that the client received completely; 0 before the first.
        after: u64,
    },
    Answer(u64),
}

/// Encloses each mark. No other text of a dialogue contains it.
const EDGE: u8 = b'~';

impl Marker {
    /// The marks in a text, from its start to its end.
    pub(crate) fn all_in(text: &[u8]) -> impl Iterator<Item = Self> {
        let mut edges = memchr::memchr_iter(EDGE, text);
        std::iter::from_fn(move || {
            let (from, to) = (edges.next()?, edges.next()?);
            Some(Self::parse(&text[from + 1..to]))
        })
        .flatten()
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        if let Some(number) = text.strip_prefix('a') {
            return number.parse().ok().map(Self::Answer);
        }
        let mut numbers = text.strip_prefix('u')?.split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self::User { conversation: next()?, turn: next()?, after: next()? })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { conversation, turn, after } => {
                write!(f, "~u{conversation}.{turn}.{after}~")
            }
            Self::Answer(number) => write!(f, "~a{number:016}~"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_order() {
        let user = Marker::User { conversation: 3, turn: 2, after: 17 };
        let text = format!(r#"[{{"text":"{user} and"}},{{"text":"{}"}}]"#, Marker::Answer(18));
        let found: Vec<Marker> = Marker::all_in(text.as_bytes()).collect();
        assert_eq!(found, [user, Marker::Answer(18)]);
    }
}
