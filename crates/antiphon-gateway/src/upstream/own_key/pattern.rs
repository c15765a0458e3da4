//! Matches a key in all spellings that decode to it.

use memchr::memmem;
use zeroize::Zeroizing;

use crate::settings::Secret;

/// The minimum length of a redacted key. A shorter key is not a secret and may be a word of
/// ordinary text.
const SHORTEST: usize = 8;

/// The maximum number of backslashes of one escape: three levels of JSON within JSON take seven.
pub(super) const MAX_BACKSLASHES: usize = 8;

/// A text that matches this number of characters of a key repeats the key. The longest public
/// prefix of a provider's keys, `sk-ant-api03-`, is shorter.
const IDENTIFYING: usize = 16;

/// Placeholder keys in the documentation of servers without keys.
const PLACEHOLDERS: [&str; 6] = [
    "lm-studio",
    "not-needed",
    "no-key-required",
    "sk-no-key-required",
    "placeholder",
    "dummy-key",
];

/// A search pattern for a key.
///
/// It matches the literal key. It also matches if any character is a JSON escape (`\u002d`,
/// `\u002D`, `\/`, also of JSON within a JSON string: `\\u002d`) or percent-encoded (`%2d`).
///
/// It contains the key, so it has no `Debug` and is overwritten when it is dropped.
pub(in crate::upstream) struct KeyPattern {
    key: Secret,
    chars: Zeroizing<Vec<char>>,
    /// The bytes at which the search stops: a match may begin there, or another rule applies.
    stops: [bool; 256],
}

/// The result of a comparison of the bytes at a position with the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// The whole key matches and ends at `end`.
    Whole { end: usize },
    /// The first `matched` characters match, and the string ends after them, at `end`.
    UntilQuote { matched: usize, end: usize },
    /// The bytes match up to the end of the text.
    CutOff,
    /// The bytes do not match.
    None,
}

/// The result for one character.
enum Spelling {
    Ends(usize),
    CutOff,
    Differs,
}

impl KeyPattern {
    /// Creates the pattern of this key. `None` if the key is not a secret.
    pub(in crate::upstream) fn new(secret: &Secret) -> Option<Self> {
        let key = secret.reveal();
        if key.len() < SHORTEST || PLACEHOLDERS.contains(&key) {
            return None;
        }
        let mut stops = [false; 256];
        for byte in [key.as_bytes()[0], b'\\', b'%', b'"'] {
            stops[usize::from(byte)] = true;
        }
        let mut chars = Zeroizing::new(Vec::with_capacity(key.len()));
        chars.extend(key.chars());
        Some(Self { key: secret.clone(), chars, stops })
    }

    /// Whether a short text contains the key in any spelling.
    pub(in crate::upstream) fn is_in(&self, text: &[u8]) -> bool {
        let is_spelled_at = |at| matches!(self.match_at(text, at, 0), Match::Whole { .. });
        memmem::find(text, self.key.reveal().as_bytes()).is_some()
            || (0..text.len()).any(is_spelled_at)
    }

    /// The next position, from `at`, at which a match may start, or of a quote or backslash.
    pub(super) fn next_stop(&self, text: &[u8], at: usize) -> Option<usize> {
        let found = text[at..].iter().position(|byte| self.stops[usize::from(*byte)]);
        found.map(|found| at + found)
    }

    /// Whether a string that ends after this number of characters of the key repeats the key.
    pub(super) fn is_repeated_by_start(&self, matched: usize) -> bool {
        let length = self.chars.len();
        length >= IDENTIFYING && matched >= (length * 3 / 4).min(IDENTIFYING)
    }

    /// Whether consecutive strings with this number of characters of the key repeat the key.
    pub(super) fn is_repeated_by_parts(&self, matched: usize) -> bool {
        matched >= (self.chars.len() / 2).clamp(SHORTEST, IDENTIFYING)
    }

    /// Compares the bytes from `at` with the key, starting at its character number `from`.
    pub(super) fn match_at(&self, text: &[u8], mut at: usize, from: usize) -> Match {
        for (index, char) in self.chars.iter().enumerate().skip(from) {
            match spelling_of(text, at, *char) {
                Spelling::Ends(end) => at = end,
                Spelling::CutOff => return Match::CutOff,
                Spelling::Differs if index > from && text[at] == b'"' => {
                    return Match::UntilQuote { matched: index, end: at };
                }
                Spelling::Differs => return Match::None,
            }
        }
        Match::Whole { end: at }
    }
}

fn spelling_of(text: &[u8], at: usize, char: char) -> Spelling {
    let rest = &text[at..];
    let mut buffer = [0; 4];
    let literal = char.encode_utf8(&mut buffer).as_bytes();
    match rest.first() {
        None => Spelling::CutOff,
        // JSON encodes a backslash as two.
        Some(b'\\') if char == '\\' => {
            Spelling::Ends(at + 1 + usize::from(rest.get(1) == Some(&b'\\')))
        }
        Some(b'\\') => escaped(text, at, char),
        Some(b'%') if char != '%' => percent_encoded(text, at, literal),
        _ if rest.starts_with(literal) => Spelling::Ends(at + literal.len()),
        _ if literal.starts_with(rest) => Spelling::CutOff,
        _ => Spelling::Differs,
    }
}

fn escaped(text: &[u8], at: usize, char: char) -> Spelling {
    let mut end = at;
    for unit in char.encode_utf16(&mut [0; 2]) {
        let backslashes = backslashes_at(text, end);
        if backslashes == 0 || backslashes > MAX_BACKSLASHES {
            return Spelling::Differs;
        }
        end += backslashes;
        match text.get(end) {
            None => return Spelling::CutOff,
            Some(b'u') => end += 1,
            Some(byte) if matches!(char, '/' | '"') && char == char::from(*byte) => {
                return Spelling::Ends(end + 1);
            }
            Some(_) => return Spelling::Differs,
        }
        match hexadecimal(text, end, (u32::from(*unit), 4)) {
            Spelling::Ends(there) => end = there,
            other => return other,
        }
    }
    Spelling::Ends(end)
}

fn percent_encoded(text: &[u8], at: usize, literal: &[u8]) -> Spelling {
    let mut end = at;
    for byte in literal {
        match text.get(end) {
            None => return Spelling::CutOff,
            Some(b'%') => end += 1,
            Some(_) => return Spelling::Differs,
        }
        match hexadecimal(text, end, (u32::from(*byte), 2)) {
            Spelling::Ends(there) => end = there,
            other => return other,
        }
    }
    Spelling::Ends(end)
}

/// Whether `at` has this value with this number of hexadecimal digits.
fn hexadecimal(text: &[u8], at: usize, (value, digits): (u32, usize)) -> Spelling {
    for index in 0..digits {
        let expected = (value >> (4 * (digits - 1 - index))) & 0xf;
        match text.get(at + index) {
            None => return Spelling::CutOff,
            Some(byte) if char::from(*byte).to_digit(16) == Some(expected) => {}
            Some(_) => return Spelling::Differs,
        }
    }
    Spelling::Ends(at + digits)
}

/// The number of consecutive backslashes at `at`.
pub(super) fn backslashes_at(text: &[u8], at: usize) -> usize {
    text[at..].iter().take_while(|byte| **byte == b'\\').count()
}
