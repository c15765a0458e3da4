//! Byte-pair encoding: joins the bytes of a text to the tokens of a vocabulary.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

/// A vocabulary: the rank of each token. Of all pairs, the one with the lowest rank is joined
/// first.
pub(super) struct BytePairs {
    ranks: HashMap<Box<[u8]>, u32>,
}

impl BytePairs {
    /// Reads a compressed `.tiktoken` file. Each of its lines is a token in base64 and its rank.
    ///
    /// # Panics
    /// If the file is malformed.
    pub(super) fn read(file: &[u8]) -> Self {
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).expect("the file is compressed text");
        let mut ranks = HashMap::with_capacity(text.lines().count());
        for line in text.lines() {
            let (token, rank) = line.split_once(' ').expect("a line is a token and its rank");
            let token = STANDARD.decode(token).expect("a token is base64");
            ranks.insert(token.into_boxed_slice(), rank.parse().expect("a rank is a number"));
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
