//! Orders the events of blocks, so that one block follows another.

use std::borrow::Cow;

use super::block::{BlockEvent, Delta};
use crate::stream::Event;

/// A queue of the blocks of an answer. The order is that of their positions: the position of the
/// item in the output, and of the block in the item.
///
/// ```text
///   block:  Pending ── start ──> Open ── stop ──> Ended
///              └──────────────── stop ─────────────^
/// ```
///
/// The events of the first block that has not ended are written immediately. Events of later blocks
/// are held until all blocks before them have ended.
#[derive(Debug, Default)]
pub(super) struct BlockQueue {
    items: Vec<Item>,
    /// The position of the block that is written now.
    head: BlockPosition,
    /// The index of the next block in the stream.
    next_index: u64,
    events: Vec<Event>,
}

/// The position of a block: its item, and its number in the item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockPosition {
    pub(super) item: usize,
    pub(super) block: usize,
}

#[derive(Debug, Default)]
struct Item {
    blocks: Vec<QueuedBlock>,
    has_ended: bool,
}

#[derive(Debug, Default)]
struct QueuedBlock {
    state: State,
    held: Vec<BlockEvent<'static>>,
}

impl QueuedBlock {
    /// Holds an event. Adjacent text deltas are merged, to bound the memory by the text's length.
    fn hold(&mut self, event: BlockEvent<'_>) {
        match (self.held.last_mut(), &event) {
            (Some(BlockEvent::Delta(last, text)), BlockEvent::Delta(next, raw))
                if last == next && last.is_text() =>
            {
                let text = text.to_mut();
                text.pop();
                text.push_str(&raw[1..]);
            }
            _ => self.held.push(event.into_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Pending,
    Open,
    Ended,
}

impl BlockQueue {
    /// Returns the events since the last call.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Appends an event that belongs to no block.
    pub(super) fn push_event(&mut self, kind: &'static str, data: String) {
        self.events.push(Event { kind: Cow::Borrowed(kind), data: data.into() });
    }

    /// Starts the block at this position with this raw block, unless it has started before.
    pub(super) fn start(&mut self, at: BlockPosition, block: &str) {
        if self.block(at).state == State::Pending {
            self.block(at).state = State::Open;
            self.push(at, BlockEvent::Start(block.into()));
        }
    }

    /// Appends a delta with a raw value. Ignored if the block is not open.
    pub(super) fn delta(&mut self, at: BlockPosition, delta: Delta, raw: &str) {
        if self.is_open(at) {
            self.push(at, BlockEvent::Delta(delta, raw.into()));
        }
    }

    /// Whether the block is open.
    pub(super) fn is_open(&mut self, at: BlockPosition) -> bool {
        self.block(at).state == State::Open
    }

    /// Ends the block.
    pub(super) fn stop(&mut self, at: BlockPosition) {
        if self.is_open(at) {
            self.push(at, BlockEvent::Stop);
        }
        self.block(at).state = State::Ended;
        self.advance();
    }

    /// Ends all blocks of the item.
    pub(super) fn end_item(&mut self, item: usize) {
        for block in 0..self.item(item).blocks.len() {
            self.stop(BlockPosition { item, block });
        }
        self.item(item).has_ended = true;
        self.advance();
    }

    /// Ends all items.
    pub(super) fn end(&mut self) {
        for item in self.head.item..self.items.len() {
            self.end_item(item);
        }
    }

    fn push(&mut self, at: BlockPosition, event: BlockEvent<'_>) {
        if at == self.head {
            self.write(&event);
        } else {
            self.block(at).hold(event);
        }
    }

    fn write(&mut self, event: &BlockEvent<'_>) {
        let index = self.next_index;
        self.next_index += u64::from(matches!(event, BlockEvent::Stop));
        self.events.push(event.to_stream_event(index));
    }

    /// Moves to the first block that has not ended, and writes the held events on the way.
    fn advance(&mut self) {
        while let Some(item) = self.items.get_mut(self.head.item) {
            match item.blocks.get_mut(self.head.block) {
                Some(block) if block.state == State::Ended => self.head.block += 1,
                None if item.has_ended => {
                    self.head = BlockPosition { item: self.head.item + 1, block: 0 };
                }
                _ => return,
            }
            self.write_held();
        }
    }

    /// Writes the held events of the current block.
    fn write_held(&mut self) {
        let block = self.items.get_mut(self.head.item);
        let block = block.and_then(|item| item.blocks.get_mut(self.head.block));
        for event in block.map(|block| std::mem::take(&mut block.held)).into_iter().flatten() {
            self.write(&event);
        }
    }

    fn item(&mut self, at: usize) -> &mut Item {
        if self.items.len() <= at {
            self.items.resize_with(at + 1, Item::default);
        }
        &mut self.items[at]
    }

    fn block(&mut self, at: BlockPosition) -> &mut QueuedBlock {
        let blocks = &mut self.item(at.item).blocks;
        if blocks.len() <= at.block {
            blocks.resize_with(at.block + 1, QueuedBlock::default);
        }
        &mut blocks[at.block]
    }
}
