//! Hears Anthropic Messages: streams, and whole messages.
//!
//! Source: Anthropic's documentation of streaming, of stop reasons, of extended thinking and of
//! citations. What a block becomes:
//!
//! | content block | output item |
//! |---|---|
//! | `text` | a part of a message; text blocks that follow each other are parts of one message |
//! | `thinking`, `redacted_thinking` | reasoning, its block sealed in `encrypted_content` |
//! | `tool_use` | a function call, or a custom tool call where the request has such a tool |
//! | any other (`server_tool_use`, `web_search_tool_result`, …) | `anthropic:<type>`, with the block as its `content` |

mod block;
mod call;
mod calls;
mod citation;
mod context;
mod ending;
mod extension;
mod messages;
#[cfg(test)]
pub(super) mod tests;
mod text;
mod thinking;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use self::block::Block;
use self::context::Context;
use self::ending::Ending;
use crate::dialect::Asked;
use crate::dialect::listener::Decode;
use crate::json::Object;
use crate::stream::{Assembler, Failure};

/// One answer of an Anthropic server.
///
/// ```text
///   block:   content_block_start ──> open ── deltas ──> open ── content_block_stop ──> ended
///   answer:  message_start, blocks, message_delta (stop_reason), message_stop ──> ended
///                                        └── error ──> failed
/// ```
///
/// Blocks may interleave: they are told apart by their index. A block that stops where the model may
/// have been cut short, with thinking that is not signed or an input that is no JSON, waits for what
/// comes next: another block or a `stop_reason` that says it was whole ends it, a limit of the
/// model's leaves it `incomplete`.
pub(in crate::dialect) struct Stream {
    context: Context,
    /// The blocks that have not stopped, by their index.
    open: BTreeMap<u64, Block>,
    /// Blocks that have stopped and may have been cut short.
    doubtful: Vec<Block>,
    ending: Ending,
}

impl Stream {
    pub(in crate::dialect) fn new(asked: Asked) -> Self {
        Self {
            context: Context::new(asked),
            open: BTreeMap::new(),
            doubtful: Vec::new(),
            ending: Ending::default(),
        }
    }
}

impl Decode for Stream {
    fn hear(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let event = Object::parse(data)?;
        match event.string("type").as_deref() {
            Some("content_block_delta") => self.block_speaks(&event, assembler),
            Some("content_block_start") => self.block_starts(&event, assembler),
            Some("content_block_stop") => self.block_stops(index_of(&event), assembler),
            Some("message_start") => {
                if let Some(message) = event.object("message") {
                    self.message_starts(&message, assembler);
                }
            }
            Some("message_delta") => self.message_changes(&event),
            Some("message_stop") => self.end(assembler),
            Some("message") => self.whole(&event, assembler),
            Some("error") => self.fail(&event, assembler),
            None if event.present("error").is_some() => self.fail(&event, assembler),
            _ => {}
        }
        Ok(())
    }

    fn hear_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let message = Object::parse(body)?;
        if message.present("error").is_some() {
            self.fail(&message, assembler);
        } else if message.present("content").is_some() {
            self.whole(&message, assembler);
        } else {
            let what = "The upstream answered with something that is no message.";
            assembler.fail(Failure::server_error(what));
        }
        Ok(())
    }

    /// A stream may lack `message_stop`: the answer has ended where a `stop_reason` was told.
    fn over(&mut self, assembler: &mut Assembler) {
        if self.ending.is_known() {
            self.end(assembler);
        }
    }
}

impl Stream {
    fn message_starts(&mut self, message: &Object<'_>, assembler: &mut Assembler) {
        let model = message.present("model").map(|model| ("model", model));
        assembler.begin(&model.into_iter().collect());
        if let Some(usage) = message.object("usage") {
            self.ending.hear_usage(&usage);
        }
        let content = message.present("content").unwrap_or("[]");
        let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
        for (index, block) in (0..).zip(blocks) {
            self.start(index, block.get(), assembler);
            self.block_stops(index, assembler);
        }
    }

    /// A message in one piece.
    fn whole(&mut self, message: &Object<'_>, assembler: &mut Assembler) {
        self.message_starts(message, assembler);
        self.ending.hear_stop(message);
        self.end(assembler);
    }

    fn block_starts(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        if let Some(block) = event.present("content_block") {
            self.start(index_of(event), block, assembler);
        }
    }

    /// A block that starts once more at the index of one that is open is that one, if it is alike;
    /// else the one before it has ended.
    fn start(&mut self, index: u64, raw: &str, assembler: &mut Assembler) {
        let Ok(block) = Object::parse(raw.as_bytes()) else { return };
        if self.open.get(&index).is_some_and(|open| open.is_started_by(&block)) {
            return;
        }
        self.block_stops(index, assembler);
        self.settle(assembler);
        if let Some(block) = Block::start(&block, raw, &mut self.context, assembler) {
            self.open.insert(index, block);
        }
    }

    /// A text whose block was never started starts one.
    fn block_speaks(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        let Some(delta) = event.object("delta") else { return };
        let index = index_of(event);
        if !self.open.contains_key(&index)
            && let Some(raw) = Block::begun_by(&delta)
        {
            self.start(index, raw, assembler);
        }
        match self.open.get_mut(&index) {
            Some(block) => block.hear(&delta, &mut self.context, assembler),
            None => self.context.leave_out_delta(&delta, "of no content block", assembler),
        }
    }

    fn block_stops(&mut self, index: u64, assembler: &mut Assembler) {
        let Some(block) = self.open.remove(&index) else { return };
        if block.may_be_cut_short() {
            self.doubtful.push(block);
        } else {
            block.end(&mut self.context, assembler);
        }
    }

    /// What was doubtful was whole: something follows it.
    fn settle(&mut self, assembler: &mut Assembler) {
        for block in std::mem::take(&mut self.doubtful) {
            block.end(&mut self.context, assembler);
        }
    }

    fn message_changes(&mut self, event: &Object<'_>) {
        if let Some(delta) = event.object("delta") {
            self.ending.hear_stop(&delta);
        }
        if let Some(usage) = event.object("usage") {
            self.ending.hear_usage(&usage);
        }
    }

    fn end(&mut self, assembler: &mut Assembler) {
        self.end_blocks(assembler);
        self.ending.tell(assembler);
    }

    /// Of an answer that was cut short, what is doubtful stays open: the assembler ends it as
    /// incomplete.
    fn end_blocks(&mut self, assembler: &mut Assembler) {
        if !self.ending.is_cut_short() {
            self.settle(assembler);
        }
        for block in std::mem::take(&mut self.open).into_values() {
            if !self.ending.is_cut_short() || !block.may_be_cut_short() {
                block.end(&mut self.context, assembler);
            }
        }
    }

    fn fail(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        self.ending.tell_failure(event, assembler);
    }
}

fn index_of(event: &Object<'_>) -> u64 {
    event.get("index").and_then(|raw| raw.parse().ok()).unwrap_or(0)
}
