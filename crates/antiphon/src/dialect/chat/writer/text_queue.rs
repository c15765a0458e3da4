//! Orders the texts of one field of the message.

use std::borrow::Cow;

/// The separator between two texts: a blank line, escaped.
pub(super) const BLANK_LINE: &str = r"\n\n";

/// The texts of one field, in the order of their items. A blank line separates the texts of two
/// items, and of two parts of an item.
///
/// ```text
///   item:  Open ── end ──> Ended
/// ```
///
/// The text of the first item that has not ended is returned immediately. The text of later items
/// is held until all items before them have ended.
#[derive(Debug, Default)]
pub(super) struct TextQueue {
    items: Vec<QueuedItem>,
    /// The index of the first item that has not ended.
    head: usize,
    /// The item and the part of the last returned text.
    last: Option<(usize, usize)>,
}

/// A piece of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// A raw JSON string.
    pub(super) text: Cow<'a, str>,
    /// The log probabilities of its tokens: raw objects, separated by commas.
    pub(super) logprobs: Cow<'a, str>,
    /// The number of the part in its item. The parts of a message are one text.
    pub(super) part: usize,
}

#[derive(Debug, Default)]
struct QueuedItem {
    held: Vec<Piece<'static>>,
    has_ended: bool,
}

impl TextQueue {
    /// Begins the item at this index, which is the next one. Without text in this field, it has
    /// ended.
    pub(super) fn begin(&mut self, has_text: bool) {
        self.items.push(QueuedItem { held: Vec::new(), has_ended: !has_text });
        self.advance();
    }

    /// Adds a nonempty text of the item. Returns the text to write now.
    pub(super) fn push<'a>(&mut self, at: usize, piece: Piece<'a>) -> Option<Piece<'a>> {
        if at == self.head && at < self.items.len() {
            return Some(self.write(at, piece));
        }
        if let Some(item) = self.items.get_mut(at).filter(|item| !item.has_ended) {
            item.hold(piece);
        }
        None
    }

    /// Ends the item. Returns the texts that were held for it.
    pub(super) fn end(&mut self, at: usize) -> Vec<Piece<'static>> {
        let before = self.head;
        if let Some(item) = self.items.get_mut(at) {
            item.has_ended = true;
        }
        self.advance();
        let reached = self.items.len().min(self.head + 1);
        let mut written = Vec::new();
        for at in before..reached {
            for piece in std::mem::take(&mut self.items[at].held) {
                written.push(self.write(at, piece));
            }
        }
        written
    }

    /// Moves to the first item that has not ended.
    fn advance(&mut self) {
        while self.items.get(self.head).is_some_and(|item| item.has_ended) {
            self.head += 1;
        }
    }

    /// The piece as it is written: after a blank line if it begins a later part.
    fn write<'a>(&mut self, at: usize, mut piece: Piece<'a>) -> Piece<'a> {
        let place = (at, piece.part);
        if self.last.replace(place).is_some_and(|last| last != place) {
            piece.text.to_mut().insert_str(1, BLANK_LINE);
        }
        piece
    }
}

impl QueuedItem {
    /// Holds a piece. Adjacent pieces of one part are merged, to bound the memory by the text.
    fn hold(&mut self, piece: Piece<'_>) {
        match self.held.last_mut().filter(|last| last.part == piece.part) {
            Some(last) => last.append(&piece),
            None => self.held.push(piece.into_owned()),
        }
    }
}

impl Piece<'_> {
    fn append(&mut self, other: &Piece<'_>) {
        let text = self.text.to_mut();
        text.pop();
        text.push_str(&other.text[1..]);
        let logprobs = self.logprobs.to_mut();
        if !logprobs.is_empty() && !other.logprobs.is_empty() {
            logprobs.push(',');
        }
        logprobs.push_str(&other.logprobs);
    }

    fn into_owned(self) -> Piece<'static> {
        Piece {
            text: self.text.into_owned().into(),
            logprobs: self.logprobs.into_owned().into(),
            part: self.part,
        }
    }
}
