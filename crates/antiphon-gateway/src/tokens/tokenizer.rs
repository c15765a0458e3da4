//! OpenAI's tokenizers: a vocabulary, and the patterns that split a text into pieces.
//!
//! The program contains the vocabularies in compressed form. The first count with a tokenizer reads
//! its vocabulary, which takes a moment: count on a blocking thread.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input, PatternID};

use super::byte_pairs::BytePairs;

/// The tokenizer of the current models.
pub(super) static O200K: LazyLock<Tokenizer> = LazyLock::new(|| {
    let pattern = concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
    );
    Tokenizer::new(include_bytes!("vocabularies/o200k_base.gz"), pattern)
});

/// The tokenizer of GPT-3.5 and GPT-4.
pub(super) static CL100K: LazyLock<Tokenizer> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+",
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$",
    );
    Tokenizer::new(include_bytes!("vocabularies/cl100k_base.gz"), pattern)
});

/// Counts the tokens of texts.
pub(super) struct Tokenizer {
    vocabulary: BytePairs,
    pieces: Regex,
}

/// Spaces before a text, with one character too many: the last space belongs to the text. OpenAI's
/// pattern `\s+(?!\S)` looks ahead instead.
const SPACES: PatternID = PatternID::new_unchecked(1);

impl Tokenizer {
    fn new(vocabulary: &[u8], pattern: &str) -> Self {
        Self {
            vocabulary: BytePairs::read(vocabulary),
            pieces: Regex::new_many(&[pattern, r"\s+\s", r"\s+"]).expect("the patterns are valid"),
        }
    }

    /// The number of tokens of a text.
    pub(super) fn count(&self, text: &str) -> usize {
        let (mut rest, mut tokens) = (text, 0);
        while let Some(end) = self.end_of_piece(rest) {
            let (piece, next) = rest.split_at(end);
            tokens += self.vocabulary.count(piece.as_bytes());
            rest = next;
        }
        tokens
    }

    /// The end of the first piece of a text. `None` if the text is empty.
    fn end_of_piece(&self, text: &str) -> Option<usize> {
        let found = self.pieces.find(Input::new(text).anchored(Anchored::Yes))?;
        let last = text[..found.end()].chars().next_back().filter(|_| found.pattern() == SPACES);
        Some(found.end() - last.map_or(0, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A text, and the number of its tokens.
    #[derive(Deserialize)]
    struct Case {
        text: String,
        /// The text is repeated.
        times: usize,
        cl100k: usize,
        o200k: usize,
    }

    /// Source: OpenAI's library `tiktoken`, as `vocabularies/README.md` describes.
    #[test]
    fn counts_equal_those_of_tiktoken() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("vocabularies/counts.json")).unwrap();
        for Case { text, times, cl100k, o200k } in cases {
            let long = text.repeat(times);
            assert_eq!(CL100K.count(&long), cl100k, "cl100k: {text:?} {times} times");
            assert_eq!(O200K.count(&long), o200k, "o200k: {text:?} {times} times");
        }
    }
}
