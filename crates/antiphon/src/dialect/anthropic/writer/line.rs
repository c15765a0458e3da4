//! One block after the other.

use std::borrow::Cow;

use super::block::{Delta, Piece};
use crate::stream::Event;

/// Puts the pieces of blocks in line. A block has its turn by its place: the position of its item in
/// the output, and its own in the item.
///
/// ```text
///   turn:  Silent ── start ──> Speaking ── end ──> Ended
///             └─────────────── end ────────────────^
/// ```
///
/// The first turn that has not ended is the one that is told as it speaks; all others are held.
#[derive(Debug, Default)]
pub(super) struct Line {
    items: Vec<Item>,
    /// Whose turn it is.
    head: Place,
    /// The index of the next block that starts.
    next_index: u64,
    told: Vec<Event>,
}

/// A block's place: its item, and which block of the item it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) item: usize,
    pub(super) block: usize,
}

#[derive(Debug, Default)]
struct Item {
    turns: Vec<Turn>,
    has_ended: bool,
}

#[derive(Debug, Default)]
struct Turn {
    state: State,
    held: Vec<Piece<'static>>,
}

impl Turn {
    /// Pieces of one text become one piece: what is held is the text, however many they were.
    fn hold(&mut self, piece: Piece<'_>) {
        match (self.held.last_mut(), &piece) {
            (Some(Piece::Delta(last, text)), Piece::Delta(next, raw))
                if last == next && last.is_text() =>
            {
                let text = text.to_mut();
                text.pop();
                text.push_str(&raw[1..]);
            }
            _ => self.held.push(piece.into_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Silent,
    Speaking,
    Ended,
}

impl Line {
    /// What was told since this was asked last.
    pub(super) fn told(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.told)
    }

    /// Tells an event that belongs to no block.
    pub(super) fn tell(&mut self, kind: &'static str, data: String) {
        self.told.push(Event { kind: Cow::Borrowed(kind), data: data.into() });
    }

    /// The block at this place starts, as this raw block, unless it has.
    pub(super) fn start(&mut self, at: Place, block: &str) {
        if self.turn(at).state == State::Silent {
            self.turn(at).state = State::Speaking;
            self.put(at, Piece::Start(block.into()));
        }
    }

    /// The block goes on by a delta, a raw value. One that is not open says nothing.
    pub(super) fn say(&mut self, at: Place, delta: Delta, raw: &str) {
        if self.has_started(at) {
            self.put(at, Piece::Delta(delta, raw.into()));
        }
    }

    /// Whether the block has started and not ended.
    pub(super) fn has_started(&mut self, at: Place) -> bool {
        self.turn(at).state == State::Speaking
    }

    /// The block ends.
    pub(super) fn stop(&mut self, at: Place) {
        if self.has_started(at) {
            self.put(at, Piece::Stop);
        }
        self.turn(at).state = State::Ended;
        self.advance();
    }

    /// The item has no more blocks.
    pub(super) fn end_item(&mut self, item: usize) {
        for block in 0..self.item(item).turns.len() {
            self.stop(Place { item, block });
        }
        self.item(item).has_ended = true;
        self.advance();
    }

    /// Nothing more comes of any item.
    pub(super) fn end(&mut self) {
        for item in self.head.item..self.items.len() {
            self.end_item(item);
        }
    }

    fn put(&mut self, at: Place, piece: Piece<'_>) {
        if at == self.head {
            self.write(&piece);
        } else {
            self.turn(at).hold(piece);
        }
    }

    fn write(&mut self, piece: &Piece<'_>) {
        let index = self.next_index;
        self.next_index += u64::from(matches!(piece, Piece::Stop));
        self.told.push(piece.event(index));
    }

    /// The next turn that has not ended.
    fn advance(&mut self) {
        while let Some(item) = self.items.get_mut(self.head.item) {
            match item.turns.get_mut(self.head.block) {
                Some(turn) if turn.state == State::Ended => self.head.block += 1,
                None if item.has_ended => {
                    self.head = Place { item: self.head.item + 1, block: 0 };
                }
                _ => return,
            }
            self.tell_held();
        }
    }

    /// The turn that has come tells what it was held back with.
    fn tell_held(&mut self) {
        let turn = self.items.get_mut(self.head.item);
        let turn = turn.and_then(|item| item.turns.get_mut(self.head.block));
        for piece in turn.map(|turn| std::mem::take(&mut turn.held)).into_iter().flatten() {
            self.write(&piece);
        }
    }

    fn item(&mut self, at: usize) -> &mut Item {
        if self.items.len() <= at {
            self.items.resize_with(at + 1, Item::default);
        }
        &mut self.items[at]
    }

    fn turn(&mut self, at: Place) -> &mut Turn {
        let turns = &mut self.item(at.item).turns;
        if turns.len() <= at.block {
            turns.resize_with(at.block + 1, Turn::default);
        }
        &mut turns[at.block]
    }
}
