//! Removes the operator's key from everything that an upstream sends.
//!
//! Some servers repeat the key that they were shown, in errors above all. Callers, the store and
//! the log must not learn it, so that the key is removed before anything else reads the bytes. A
//! caller's own token is no secret from its caller, and passes.
//!
//! # Limits
//! - A key that is shorter than eight characters, or a placeholder (`lm-studio`), is no secret.
//! - Of a key that is split over the strings of consecutive events, the parts are removed from the
//!   one on that brings the match to half of the key, or to 16 characters; what came before it has
//!   left. The next part must follow within [`REACH`] bytes.
//! - A key that is encoded as a whole, as in base64, is not found.

mod pattern;

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use self::pattern::{MAX_BACKSLASHES, Match, backslashes_at};

pub(super) use self::pattern::KeyPattern;

/// How many bytes after a string that ends in the beginning of a key the next part is searched for.
const REACH: u64 = 16 << 10;

/// The characters that take the place of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// `***`
    Short,
    /// A star for every byte, so that the length of the whole stays as it was announced.
    SameLength,
}

/// Removes a key from bytes that come in pieces.
///
/// Holds back the bytes that may be the beginning of a key until more has come: of each character,
/// no more than its longest spelling.
pub(super) struct Redactor {
    pattern: Arc<KeyPattern>,
    mask: Mask,
    held: Bytes,
    /// How many bytes came before those that are searched.
    offset: u64,
    parts: Vec<Part>,
}

/// The beginning of the key, at the end of a string.
struct Part {
    /// How many characters of the key, together with the parts before it.
    matched: usize,
    /// Where it ends, counted from the beginning of all bytes.
    end: u64,
}

/// The result of a comparison at one position.
enum Step {
    /// No key: the search goes on at this position.
    Continue(usize),
    /// These bytes are to be removed.
    Remove { start: usize, end: usize },
    /// More bytes decide about those from this position on.
    Hold(usize),
}

impl Redactor {
    /// Removes what matches `pattern`.
    pub(super) fn new(pattern: Arc<KeyPattern>, mask: Mask) -> Self {
        Self { pattern, mask, held: Bytes::new(), offset: 0, parts: Vec::new() }
    }

    /// The bytes that can be passed on now that `piece` has come.
    pub(super) fn push(&mut self, piece: Bytes) -> Bytes {
        let text = match self.held.is_empty() {
            true => piece,
            false => [std::mem::take(&mut self.held), piece].concat().into(),
        };
        let (clean, searched) = self.search(&text);
        self.held = text.slice(searched..);
        self.offset += searched as u64;
        clean
    }

    /// The bytes that are left at the end.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(rest)
    }

    /// The text without keys, as far as it can be searched, and how far that is.
    fn search(&mut self, text: &Bytes) -> (Bytes, usize) {
        let pattern = Arc::clone(&self.pattern);
        let (mut at, mut copied, mut clean) = (0, 0, BytesMut::new());
        let mut end = text.len();
        while let Some(stop) = pattern.next_stop(text, at) {
            match self.step(&pattern, text, stop) {
                Step::Continue(next) => at = next,
                Step::Remove { start, end } => {
                    clean.extend_from_slice(&text[copied..start]);
                    self.mask.write(end - start, &mut clean);
                    (at, copied) = (end, end);
                }
                Step::Hold(from) => {
                    end = from;
                    break;
                }
            }
        }
        if copied == 0 {
            return (text.slice(..end), end);
        }
        clean.extend_from_slice(&text[copied..end]);
        (clean.freeze(), end)
    }

    fn step(&mut self, pattern: &KeyPattern, text: &[u8], stop: usize) -> Step {
        match pattern.match_at(text, stop, 0) {
            Match::Whole { end } => Step::Remove { start: stop, end },
            Match::CutOff => Step::Hold(stop),
            Match::UntilQuote { matched, end } => {
                self.remember(matched, end);
                match pattern.is_told_by_start(matched) {
                    true => Step::Remove { start: stop, end },
                    false => Step::Continue(stop + backslashes_at(text, stop).max(1)),
                }
            }
            Match::None => match text[stop] {
                b'\\' => after_backslashes(pattern, text, stop),
                b'"' => self.continued(pattern, text, stop),
                _ => Step::Continue(stop + 1),
            },
        }
    }

    /// A quote: a string that begins here may continue the key.
    fn continued(&mut self, pattern: &KeyPattern, text: &[u8], quote: usize) -> Step {
        let start = quote + 1;
        let here = self.offset + start as u64;
        self.parts.retain(|part| here - part.end <= REACH);
        let from: Vec<usize> = self.parts.iter().map(|part| part.matched).collect();
        for from in from {
            match pattern.match_at(text, start, from) {
                Match::Whole { end } => return Step::Remove { start, end },
                Match::CutOff => return Step::Hold(quote),
                Match::UntilQuote { matched, end } => {
                    self.remember(matched, end);
                    if pattern.is_told_by_parts(matched) {
                        return Step::Remove { start, end };
                    }
                }
                Match::None => {}
            }
        }
        Step::Continue(start)
    }

    fn remember(&mut self, matched: usize, end: usize) {
        let end = self.offset + end as u64;
        self.parts.retain(|part| part.matched != matched);
        self.parts.push(Part { matched, end });
    }
}

impl Mask {
    fn write(self, length: usize, clean: &mut BytesMut) {
        let length = match self {
            Self::Short => 3,
            Self::SameLength => length,
        };
        clean.resize(clean.len() + length, b'*');
    }
}

/// Where the search goes on after backslashes that do not begin a key.
///
/// A character behind an odd number of them belongs to their escape. If the text is no JSON, a key
/// may begin with that character all the same; it stays, so that JSON stays well formed.
fn after_backslashes(pattern: &KeyPattern, text: &[u8], stop: usize) -> Step {
    let count = backslashes_at(text, stop);
    let end = stop + count;
    if end == text.len() {
        // An even number of them leaves: the escape that the last one begins stays the same.
        let held = if count > MAX_BACKSLASHES { MAX_BACKSLASHES - count % 2 } else { count };
        return Step::Hold(end - held);
    }
    if count.is_multiple_of(2) {
        return Step::Continue(end);
    }
    match pattern.match_at(text, end, 0) {
        Match::Whole { end: key_end } => Step::Remove { start: end + 1, end: key_end },
        Match::CutOff => Step::Hold(stop),
        _ => Step::Continue(end + 1),
    }
}

#[cfg(test)]
mod tests;
