//! The gateway's own key in what an upstream says of it.

use bytes::Bytes;
use memchr::memmem;

use crate::settings::Secret;

/// The fewest characters of a key that is taken out of an error: a shorter one is no secret, and may
/// be a word of the error.
const SHORTEST: usize = 8;

/// An error's body without the key that the upstream was shown. Some repeat it, and callers, who
/// are given the error, must not learn it. A caller's own token is no news to its caller.
pub(super) fn without(key: Option<&Secret>, body: Bytes) -> Bytes {
    let Some(key) = key.map(Secret::reveal).filter(|key| key.len() >= SHORTEST) else {
        return body;
    };
    match String::from_utf8_lossy(&body) {
        text if text.contains(key) => text.replace(key, "***").into(),
        _ => body,
    }
}

/// Takes a key out of bytes that come in pieces. A star stands in place of each of its characters, so
/// that the length stays what was announced.
///
/// What may be the beginning of a key is held back until more has come: less than one key.
pub(super) struct Redactor {
    key: Vec<u8>,
    held: Vec<u8>,
}

impl Redactor {
    /// Takes out this key, unless it is no secret.
    pub(super) fn new(key: &Secret) -> Self {
        let key = Some(key.reveal()).filter(|key| key.len() >= SHORTEST).unwrap_or_default();
        Self { key: key.into(), held: Vec::new() }
    }

    /// What can be told now that these bytes have come.
    pub(super) fn piece(&mut self, piece: &[u8]) -> Bytes {
        let mut told = std::mem::take(&mut self.held);
        told.extend_from_slice(piece);
        let found: Vec<usize> = match self.key.is_empty() {
            true => Vec::new(),
            false => memmem::find_iter(&told, &self.key).collect(),
        };
        for &at in &found {
            told[at..at + self.key.len()].fill(b'*');
        }
        self.held = told.split_off(told.len() - self.begun(&told));
        told.into()
    }

    /// What is left at the end.
    pub(super) fn rest(&mut self) -> Option<Bytes> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty()).then(|| rest.into())
    }

    /// How many bytes at the end may be a key's beginning.
    fn begun(&self, told: &[u8]) -> usize {
        let longest = told.len().min(self.key.len().saturating_sub(1));
        (1..=longest).rev().find(|length| told.ends_with(&self.key[..*length])).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wherever_its_pieces_are_cut_a_stream_holds_no_key_and_keeps_its_length() {
        let text = b"sk-sk-of-the-gateway, sk-of-the-gatewaysk-of-the-gateway and sk-of";
        let expected = b"sk-*****************, ********************************** and sk-of";
        for first in 0..text.len() {
            for second in first..text.len() {
                let mut redactor = Redactor::new(&Secret::new("sk-of-the-gateway"));
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                let mut told: Vec<u8> =
                    pieces.iter().flat_map(|piece| redactor.piece(piece)).collect();
                told.extend(redactor.rest().unwrap_or_default());
                assert_eq!(told, expected, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn what_cannot_be_a_keys_beginning_is_told_at_once() {
        let mut redactor = Redactor::new(&Secret::new("sk-of-the-gateway"));
        assert_eq!(redactor.piece(b"data: {}\n\n"), &b"data: {}\n\n"[..]);
        assert_eq!(redactor.piece(b"data: sk-o"), &b"data: "[..]);
        assert_eq!(redactor.rest().as_deref(), Some(&b"sk-o"[..]));
    }

    #[test]
    fn a_word_is_no_key() {
        assert_eq!(Redactor::new(&Secret::new("key")).piece(b"key k"), &b"key k"[..]);
    }

    fn without_key(key: &str, body: &'static [u8]) -> Bytes {
        without(Some(&Secret::new(key)), Bytes::from_static(body))
    }

    #[test]
    fn a_key_is_taken_out_wherever_it_stands() {
        let key = "sk-of-the-gateway";
        assert_eq!(
            without_key(key, b"sk-of-the-gateway: no sk-of-the-gateway. \xff"),
            "***: no ***. \u{fffd}"
        );
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        let body = b"key \xff is wrong";
        assert_eq!(without_key("sk-of-the-gateway", body), &body[..]);
        assert_eq!(without_key("key", body), &body[..]);
        assert_eq!(without(None, Bytes::from_static(body)), &body[..]);
    }
}
