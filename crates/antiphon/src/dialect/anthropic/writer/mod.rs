//! Writes answers of the Anthropic Messages API: the stream, and the whole message.
//!
//! Sources: Anthropic's documentation of streaming, of errors and of extended thinking. Mapping:
//!
//! | output item | content blocks |
//! |---|---|
//! | message | a `text` block for each nonempty part; a refusal becomes text too |
//! | reasoning | `thinking` with its text (summary or raw) and signature, or `redacted_thinking` |
//! | function call | `tool_use` |
//! | custom tool call | `tool_use`; its `input` object has the text in the field `input` |
//! | `anthropic:<type>` | the block in its `content` |
//! | any other | nothing |

mod block;
mod block_queue;
mod ending;
mod fold;
mod item_writer;
#[cfg(test)]
mod tests;

pub(in crate::dialect) use self::block::{ToolIds, input_json};
pub(in crate::dialect) use self::fold::left_out;

use self::block::message;
use self::block_queue::BlockQueue;
use self::ending::Outcome;
use self::item_writer::ItemWriter;
use crate::json::Object;
use crate::stream::Event;
use crate::transcript::Origin;

/// Writes the events of the Anthropic Messages API.
///
/// ```text
///   message_start ──> per block: start, deltas, stop ──> message_delta ──> message_stop
///                                                   └──> error
/// ```
///
/// Guarantees:
/// - Block indexes count from 0 without gaps, in the order of the output. Blocks do not interleave:
///   events of a later item are held until the earlier items end.
/// - Every started block stops. The ids of `tool_use` blocks are unique.
/// - Text deltas are forwarded unchanged; held deltas are merged into one.
/// - A failed response ends with an `error` event. Anthropic's clients raise an exception and stop
///   reading, so no event follows it.
pub struct AnthropicWriter {
    queue: BlockQueue,
    tools: ToolIds,
    /// The output items, by their index.
    item_writers: Vec<ItemWriter>,
    /// The upstream and model that answer, if they are known.
    origin: Option<Origin>,
}

impl AnthropicWriter {
    /// A writer of an answer of `origin`, for which it seals encrypted reasoning. Without an
    /// origin, the client gets the encrypted content as it is.
    pub(in crate::dialect) fn new(origin: Option<Origin>) -> Self {
        let (queue, tools) = (BlockQueue::default(), ToolIds::default());
        Self { queue, tools, item_writers: Vec::new(), origin }
    }

    /// The whole answer as a `message` object, or as an `error` if it failed.
    pub(in crate::dialect) fn fold(&self, response: &Object<'_>) -> String {
        fold::fold(response, self.origin.as_ref())
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        if let Ok(fields) = Object::parse(&event.data) {
            match &*event.kind {
                "response.created" => self.begin(&fields),
                "response.output_item.added" => self.announce(&fields),
                kind => self.within_item(kind, &fields),
            }
        }
        self.queue.take_events()
    }

    pub(in crate::dialect) fn end(&mut self, response: &Object<'_>) -> Vec<Event> {
        self.queue.end();
        let mut events = self.queue.take_events();
        events.extend(Outcome::from_response(response).events());
        events
    }

    fn begin(&mut self, event: &Object<'_>) {
        let response = event.object("response").unwrap_or_default();
        let message = message(&response, "", "null", None);
        let data = format!(r#"{{"type":"message_start","message":{message}}}"#);
        self.queue.push_event("message_start", data);
    }

    fn announce(&mut self, event: &Object<'_>) {
        let item = event.object("item").unwrap_or_default();
        let at = self.item_writers.len();
        self.item_writers.push(ItemWriter::new(at, &item, &mut self.tools, &mut self.queue));
    }

    fn within_item(&mut self, kind: &str, event: &Object<'_>) {
        let Some(at) = number(event, "output_index") else { return };
        if let Some(item_writer) = self.item_writers.get_mut(at) {
            item_writer.write(at, kind, event, self.origin.as_ref(), &mut self.queue);
        }
    }
}

/// The number under `key`, as an index.
fn number(event: &Object<'_>, key: &str) -> Option<usize> {
    event.get(key)?.parse().ok()
}
