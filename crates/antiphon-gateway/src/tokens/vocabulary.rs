//! Tokenizes texts.

use super::tokenizer::{CL100K, O200K, Tokenizer};

/// The maximum number of bytes that are tokenized, which is more than any model's window. Other
/// bytes are estimated with [`BYTES_PER_TOKEN`].
const MAX_TOKENIZED: usize = 8 << 20;

/// Texts are tokenized in slices of this size, so that the time is linear for any text. A slice
/// that ends inside a word adds at most one token.
const SLICE: usize = 64 << 10;

/// The typical length of a token in English, in bytes.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// Prefixes of the models with the older vocabulary, and the exceptions with the newer one. Source:
/// OpenAI's table of models and encodings.
const OLDER: [&str; 4] = ["gpt-4", "gpt-3.5", "text-embedding-", "davinci"];
const NEWER: [&str; 3] = ["gpt-4o", "gpt-4.1", "gpt-4.5"];

/// Counts the tokens of one request's texts.
pub(super) struct Counter {
    tokenizer: &'static Tokenizer,
    /// The number of bytes that may still be tokenized.
    left: usize,
}

impl Counter {
    /// Creates a counter with the vocabulary of this model. An unknown model gets the newest
    /// vocabulary.
    pub(super) fn for_model(model: &str) -> Self {
        let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
        let tokenizer = match begins(&OLDER) && !begins(&NEWER) {
            true => &*CL100K,
            false => &*O200K,
        };
        Self { tokenizer, left: MAX_TOKENIZED }
    }

    /// The tokens of a text.
    pub(super) fn count(&mut self, text: &str) -> u64 {
        let counted = text.floor_char_boundary(self.left);
        self.left -= counted;
        let (mut rest, beyond) = text.split_at(counted);
        let mut tokens = (beyond.len() as u64).div_ceil(BYTES_PER_TOKEN);
        while !rest.is_empty() {
            let (slice, next) = rest.split_at(rest.floor_char_boundary(SLICE));
            tokens += self.tokenizer.count(slice) as u64;
            rest = next;
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the examples in OpenAI's recipe for counting with its own library.
    #[test]
    fn each_vocabulary_counts_as_its_own() {
        for (text, older, newer) in [
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 9, 8),
        ] {
            assert_eq!(Counter::for_model("gpt-4-turbo").count(text), older, "{text}");
            assert_eq!(Counter::for_model("gpt-3.5-turbo").count(text), older, "{text}");
            for model in ["gpt-4o-mini", "gpt-4.1", "gpt-5", "o3", "claude-5", ""] {
                assert_eq!(Counter::for_model(model).count(text), newer, "{text}, {model}");
            }
        }
    }

    #[test]
    fn text_beyond_the_bound_counts_by_its_length() {
        let mut counter = Counter { left: 2, ..Counter::for_model("") };
        assert_eq!(counter.count("é12345678"), 1 + 2);
        assert_eq!(counter.count("12345"), 2);
    }
}
