//! Removes the operator's key from everything that an upstream sends.
//!
//! Some servers repeat the key of a request, most often in errors. Callers, the store and the log
//! must not receive it, so the key is removed before any other code reads the bytes. A caller's own
//! token is not secret from its caller and is not removed.
//!
//! # Limits
//! - A key of fewer than eight characters, or a placeholder (`lm-studio`), is not treated as a
//!   secret.
//! - If a key is split over the strings of consecutive events, removal starts with the part that
//!   completes half of the key or 16 characters. Earlier parts were already sent. The next part
//!   must follow within [`REACH`] bytes.
//! - A key that is encoded as a whole, for example in base64, is not found.

mod pattern;

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use self::pattern::{MAX_BACKSLASHES, Match, backslashes_at};

pub(super) use self::pattern::KeyPattern;

/// The maximum distance in bytes from a string that ends with the start of a key to the next part.
const REACH: u64 = 16 << 10;

/// The replacement for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    /// `***`
    Short,
    /// One star per byte, so that the announced length stays correct.
    SameLength,
}

/// Removes a key from a stream of bytes.
///
/// Holds back bytes that may be the start of a key until more bytes arrive. The number of held
/// bytes is bounded by the longest spelling of each character.
pub(super) struct Redactor {
    pattern: Arc<KeyPattern>,
    mask: Mask,
    held: Bytes,
    /// The number of bytes before the searched ones.
    offset: u64,
    parts: Vec<Part>,
}

/// The start of the key, at the end of a string.
struct Part {
    /// The number of matched characters, including the earlier parts.
    matched: usize,
    /// The end of the part, counted from the first byte of the stream.
    end: u64,
}

/// The result of a comparison at one position.
enum Step {
    /// No key here: continue the search at this position.
    Continue(usize),
    /// Remove these bytes.
    Remove { start: usize, end: usize },
    /// Wait for more bytes before a decision about the bytes from this position.
    Hold(usize),
}

impl Redactor {
    /// Creates a redactor for `pattern`.
    pub(super) fn new(pattern: Arc<KeyPattern>, mask: Mask) -> Self {
        Self { pattern, mask, held: Bytes::new(), offset: 0, parts: Vec::new() }
    }

    /// Adds `piece`, and returns the bytes that can be passed on.
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

    /// The remaining bytes at the end.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then_some(rest)
    }

    /// Removes keys from the text. Returns the clean text and the length of the searched text.
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
                match pattern.is_repeated_by_start(matched) {
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

    /// At a quote: the string that starts here may continue the key.
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
                    if pattern.is_repeated_by_parts(matched) {
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

/// Continues the search after backslashes that do not start a key.
///
/// A character after an odd number of backslashes belongs to their escape. If the text is not JSON,
/// a key may start with that character. This one character stays, so that JSON stays well formed,
/// and the rest of the key is removed.
fn after_backslashes(pattern: &KeyPattern, text: &[u8], stop: usize) -> Step {
    let count = backslashes_at(text, stop);
    let end = stop + count;
    if end == text.len() {
        // Release an even number of backslashes, so that the escape of the last one stays intact.
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
