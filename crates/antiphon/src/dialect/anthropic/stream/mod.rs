//! Decodes answers of the Anthropic Messages API: streams and whole messages.
//!
//! Sources: Anthropic's documentation of streaming, of stop reasons, of extended thinking and of
//! citations. Mapping:
//!
//! | content block | output item |
//! |---|---|
//! | `text` | a part of a message; consecutive text blocks are parts of one message |
//! | `thinking`, `redacted_thinking` | reasoning; the block is sealed in `encrypted_content` |
//! | `tool_use` | a function call, or a custom tool call if the request has such a tool |
//! | any other (`server_tool_use`, …) | `anthropic:<type>`, with the block as its `content` |

mod block;
mod calls;
mod ending;
#[cfg(test)]
pub(super) mod tests;
mod text;
mod thinking;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::RawValue;

use self::block::Block;
use self::block::Context;
use self::ending::Ending;
use crate::dialect::RequestContext;
use crate::dialect::stream_decoder::Decode;
use crate::json::Object;
use crate::stream::{Assembler, Failure};

/// The decoder of one answer from an Anthropic server.
///
/// ```text
///   block:   content_block_start ──> open ── deltas ──> open ── content_block_stop ──> ended
///   answer:  message_start, blocks, message_delta (stop_reason), message_stop ──> ended
///                                        └── error ──> failed
/// ```
///
/// Blocks may interleave; their index identifies them. A token limit may have cut a block short:
/// its thinking is not signed, or its input is not JSON. Such a block waits after its stop. It ends
/// if another block or a normal `stop_reason` follows, and stays `incomplete` if a limit ended the
/// answer.
pub(in crate::dialect) struct Stream {
    context: Context,
    /// The blocks that have not stopped, by their index.
    open: BTreeMap<u64, Block>,
    /// The blocks that have stopped but may be cut short.
    unconfirmed: Vec<Block>,
    ending: Ending,
}

impl Stream {
    pub(in crate::dialect) fn new(context: RequestContext) -> Self {
        Self {
            context: Context::new(context),
            open: BTreeMap::new(),
            unconfirmed: Vec::new(),
            ending: Ending::default(),
        }
    }
}

impl Decode for Stream {
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        let event = Object::parse(data)?;
        match event.string("type").as_deref() {
            Some("content_block_delta") => self.apply_delta(&event, assembler),
            Some("content_block_start") => self.start_block(&event, assembler),
            Some("content_block_stop") => self.stop_block(index_of(&event), assembler),
            Some("message_start") => {
                if let Some(message) = event.object("message") {
                    self.start_message(&message, assembler);
                }
            }
            Some("message_delta") => self.update_message(&event),
            Some("message_stop") => self.end(assembler),
            Some("message") => self.decode_message(&event, assembler),
            Some("error") => self.fail(&event, assembler),
            None if event.present("error").is_some() => self.fail(&event, assembler),
            _ => {}
        }
        Ok(())
    }

    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let message = Object::parse(body)?;
        if message.present("error").is_some() {
            self.fail(&message, assembler);
        } else if message.present("content").is_some() {
            self.decode_message(&message, assembler);
        } else {
            let what = "The upstream's answer is not an Anthropic message.";
            assembler.fail(Failure::server_error(what));
        }
        Ok(())
    }

    /// Ends the answer after a `stop_reason`, because a stream may lack `message_stop`.
    fn finish(&mut self, assembler: &mut Assembler) {
        if self.ending.is_known() {
            self.end(assembler);
        }
    }
}

impl Stream {
    fn start_message(&mut self, message: &Object<'_>, assembler: &mut Assembler) {
        let model = message.present("model").map(|model| ("model", model));
        assembler.begin(&model.into_iter().collect());
        if let Some(usage) = message.object("usage") {
            self.ending.read_usage(&usage);
        }
        let content = message.present("content").unwrap_or("[]");
        let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
        for (index, block) in (0..).zip(blocks) {
            self.start(index, block.get(), assembler);
            self.stop_block(index, assembler);
        }
    }

    /// Decodes a message that is not streamed.
    fn decode_message(&mut self, message: &Object<'_>, assembler: &mut Assembler) {
        self.start_message(message, assembler);
        self.ending.read_stop_reason(message);
        self.end(assembler);
    }

    fn start_block(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        if let Some(block) = event.present("content_block") {
            self.start(index_of(event), block, assembler);
        }
    }

    /// Starts a block. If an open block at the index is of the same kind, the event repeats its
    /// start and is ignored; otherwise the open block ends first.
    fn start(&mut self, index: u64, raw: &str, assembler: &mut Assembler) {
        let Ok(block) = Object::parse(raw.as_bytes()) else { return };
        if self.open.get(&index).is_some_and(|open| open.is_repeated_by(&block)) {
            return;
        }
        self.stop_block(index, assembler);
        self.end_unconfirmed(assembler);
        if let Some(block) = Block::start(&block, raw, &mut self.context, assembler) {
            self.open.insert(index, block);
        }
    }

    /// Applies a delta. A text delta starts its block if the server did not.
    fn apply_delta(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        let Some(delta) = event.object("delta") else { return };
        let index = index_of(event);
        if !self.open.contains_key(&index)
            && let Some(raw) = Block::implied_start(&delta)
        {
            self.start(index, raw, assembler);
        }
        match self.open.get_mut(&index) {
            Some(block) => block.apply_delta(&delta, &mut self.context, assembler),
            None => self.context.leave_out_delta(&delta, "of no content block", assembler),
        }
    }

    fn stop_block(&mut self, index: u64, assembler: &mut Assembler) {
        let Some(block) = self.open.remove(&index) else { return };
        if block.may_be_cut_short() {
            self.unconfirmed.push(block);
        } else {
            block.end(&mut self.context, assembler);
        }
    }

    /// Ends the blocks that may be cut short: output after them shows that they are complete.
    fn end_unconfirmed(&mut self, assembler: &mut Assembler) {
        for block in std::mem::take(&mut self.unconfirmed) {
            block.end(&mut self.context, assembler);
        }
    }

    fn update_message(&mut self, event: &Object<'_>) {
        if let Some(delta) = event.object("delta") {
            self.ending.read_stop_reason(&delta);
        }
        if let Some(usage) = event.object("usage") {
            self.ending.read_usage(&usage);
        }
    }

    fn end(&mut self, assembler: &mut Assembler) {
        self.end_blocks(assembler);
        self.ending.end_response(assembler);
    }

    /// Ends the open blocks. If a limit ended the answer, blocks that may be cut short stay open,
    /// and the assembler ends them as incomplete.
    fn end_blocks(&mut self, assembler: &mut Assembler) {
        if !self.ending.is_cut_short() {
            self.end_unconfirmed(assembler);
        }
        for block in std::mem::take(&mut self.open).into_values() {
            if !self.ending.is_cut_short() || !block.may_be_cut_short() {
                block.end(&mut self.context, assembler);
            }
        }
    }

    fn fail(&mut self, event: &Object<'_>, assembler: &mut Assembler) {
        self.ending.fail_response(event, assembler);
    }
}

fn index_of(event: &Object<'_>) -> u64 {
    event.get("index").and_then(|raw| raw.parse().ok()).unwrap_or(0)
}
