//! Texts that differ from one another, but not from run to run.

/// A source of texts.
pub(crate) struct Words(u64);

const WORDS: [&str; 16] = [
    "the",
    "station",
    "reports",
    "rain",
    "over",
    "Bergen",
    "until",
    "noon",
    "and",
    "wind",
    "from",
    "northwest",
    "\"strong\"",
    "at",
    "times,\n",
    "–5 °C",
];

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Words {
    /// A source of texts that depend only on `seed`.
    pub(crate) fn new(seed: usize) -> Self {
        Self((seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Prose of about `length` bytes, with some characters that JSON escapes.
    pub(crate) fn prose(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            text.push_str(WORDS[self.below(WORDS.len())]);
            text.push(' ');
        }
        text
    }

    /// `length` base64 digits, the form of encrypted content.
    pub(crate) fn base64(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(BASE64[self.below(BASE64.len())])).collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
    }
}
