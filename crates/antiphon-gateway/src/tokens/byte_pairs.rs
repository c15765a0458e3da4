//! Byte-pair encoding: joins the bytes of a text to the tokens of a vocabulary.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Read as _;

use flate2::read::GzDecoder;

/// A vocabulary: the rank of each token. Of all pairs, the one with the lowest rank is joined
/// first.
pub(super) struct BytePairs {
    ranks: HashMap<Box<[u8]>, u32>,
}

impl BytePairs {
    /// Reads a compressed vocabulary: the lengths of its tokens in the order of their ranks, one
    /// byte each, then a zero and the tokens.
    ///
    /// # Panics
    /// If the file is malformed.
    pub(super) fn read(file: &[u8]) -> Self {
        let mut packed = Vec::new();
        GzDecoder::new(file).read_to_end(&mut packed).expect("the file is compressed");
        let count = packed.iter().position(|it| *it == 0).expect("a zero ends the lengths");
        let (lengths, mut rest) = (&packed[..count], &packed[count + 1..]);
        let mut ranks = HashMap::with_capacity(count);
        for (length, rank) in lengths.iter().zip(0..) {
            let (token, others) = rest.split_at(usize::from(*length));
            ranks.insert(token.into(), rank);
            rest = others;
        }
        Self { ranks }
    }

    /// The number of tokens of a piece of text. The time for n bytes is in O(n log n).
    pub(super) fn count(&self, piece: &[u8]) -> usize {
        match self.ranks.contains_key(piece) {
            true => 1,
            false => Parts::new(self, piece).join_all(),
        }
    }
}

/// The parts of a piece. At first each byte is a part, and at the end each token.
struct Parts<'a> {
    vocabulary: &'a BytePairs,
    piece: &'a [u8],
    /// The end of the part that starts at an index, or [`JOINED`] if no part starts there.
    ends: Vec<usize>,
    /// The start of the part before the part that starts at an index.
    before: Vec<usize>,
    /// The rank, start and end of each pair of neighbors that is a token. A pair stays here after
    /// one of its parts was joined to another part.
    pairs: BinaryHeap<Reverse<(u32, usize, usize)>>,
    count: usize,
}

/// Instead of the end of a part that was joined to the part before it.
const JOINED: usize = usize::MAX;

impl<'a> Parts<'a> {
    fn new(vocabulary: &'a BytePairs, piece: &'a [u8]) -> Self {
        let mut parts = Self {
            vocabulary,
            piece,
            ends: (1..=piece.len()).collect(),
            before: (0..piece.len()).map(|start| start.saturating_sub(1)).collect(),
            pairs: BinaryHeap::with_capacity(piece.len()),
            count: piece.len(),
        };
        for start in 0..piece.len() {
            parts.add_pair(start);
        }
        parts
    }

    /// Joins pairs until no pair is a token, and returns the number of parts.
    fn join_all(mut self) -> usize {
        while let Some(Reverse((_, start, end))) = self.pairs.pop() {
            if self.end_of_pair(start) == Some(end) {
                self.join(start, end);
            }
        }
        self.count
    }

    fn join(&mut self, start: usize, end: usize) {
        let middle = std::mem::replace(&mut self.ends[start], end);
        self.ends[middle] = JOINED;
        if let Some(before) = self.before.get_mut(end) {
            *before = start;
        }
        self.count -= 1;
        self.add_pair(start);
        if start > 0 {
            self.add_pair(self.before[start]);
        }
    }

    /// Adds the part at `start` and its neighbor to the pairs, if they are a token together.
    fn add_pair(&mut self, start: usize) {
        let Some(end) = self.end_of_pair(start) else { return };
        if let Some(rank) = self.vocabulary.ranks.get(&self.piece[start..end]) {
            self.pairs.push(Reverse((*rank, start, end)));
        }
    }

    /// The end of the part after the part at `start`. `None` if there is no such pair.
    fn end_of_pair(&self, start: usize) -> Option<usize> {
        self.ends.get(self.ends[start]).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use ring::digest::{SHA256, digest};

    use super::*;

    /// Source: the hashes that `tiktoken` names. A line of its files is a token in base64 and its
    /// rank.
    #[test]
    fn vocabularies_equal_those_of_tiktoken() {
        for (file, expected) in [
            (
                include_bytes!("vocabularies/o200k_base.gz").as_slice(),
                "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            ),
            (
                include_bytes!("vocabularies/cl100k_base.gz"),
                "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            ),
        ] {
            let mut tokens: Vec<_> = BytePairs::read(file).ranks.into_iter().collect();
            tokens.sort_unstable_by_key(|(_, rank)| *rank);
            let mut source = String::new();
            for (token, rank) in tokens {
                writeln!(source, "{} {rank}", STANDARD.encode(token)).unwrap();
            }
            let hash = digest(&SHA256, source.as_bytes());
            assert_eq!(format!("{hash:?}"), format!("SHA256:{expected}"));
        }
    }
}
