//! Orders the pieces of an answer, so that one item follows another.

/// A piece of an output item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A text of the answer: a raw JSON string.
    Text(String),
    /// A text of the reasoning: a raw JSON string.
    Thought(String),
    /// A complete call, as its item.
    Call(String),
    /// Complete reasoning, as its item.
    Reasoning(String),
}

/// A queue of the pieces of all items.
///
/// ```text
///   item:  Open ── end ──> Ended
/// ```
///
/// The pieces of the first item that has not ended are returned immediately. Those of later items
/// are held until all items before them have ended.
#[derive(Debug, Default)]
pub(super) struct PieceQueue {
    items: Vec<QueuedItem>,
    /// The index of the first item that has not ended.
    head: usize,
}

#[derive(Debug, Default)]
struct QueuedItem {
    held: Vec<Piece>,
    has_ended: bool,
}

impl PieceQueue {
    /// Begins the next item.
    pub(super) fn begin(&mut self) {
        self.items.push(QueuedItem::default());
    }

    /// Adds a piece of the item at this index. Returns it if it can be written now.
    pub(super) fn push(&mut self, at: usize, piece: Piece) -> Option<Piece> {
        let is_head = at == self.head;
        let item = self.items.get_mut(at).filter(|item| !item.has_ended)?;
        if is_head {
            return Some(piece);
        }
        item.hold(piece);
        None
    }

    /// Ends the item. Returns the pieces that were held for it.
    pub(super) fn end(&mut self, at: usize) -> Vec<Piece> {
        if let Some(item) = self.items.get_mut(at) {
            item.has_ended = true;
        }
        let mut written = Vec::new();
        while let Some(item) = self.items.get_mut(self.head) {
            written.append(&mut item.held);
            if !item.has_ended {
                break;
            }
            self.head += 1;
        }
        written
    }

    /// Ends all items. Returns the pieces that were held.
    pub(super) fn end_all(&mut self) -> Vec<Piece> {
        (self.head..self.items.len()).flat_map(|at| self.end(at)).collect()
    }
}

impl QueuedItem {
    /// Holds a piece. Adjacent texts are merged, to bound the memory by the text.
    fn hold(&mut self, piece: Piece) {
        match (self.held.last_mut(), &piece) {
            (Some(Piece::Text(last)), Piece::Text(raw))
            | (Some(Piece::Thought(last)), Piece::Thought(raw)) => {
                last.pop();
                last.push_str(&raw[1..]);
            }
            _ => self.held.push(piece),
        }
    }
}
