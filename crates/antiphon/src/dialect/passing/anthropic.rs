//! The `tool_use` blocks of a message.

use std::collections::HashMap;

use super::calls::{Call, fresh_id, with_array};
use super::events::RawEvent;
use crate::json::{Object, quote};

/// The blocks of a stream. The events of a block that may be a repeat are held until it ends.
#[derive(Debug, Default)]
pub(super) struct AnthropicEvents {
    /// The calls by their ids: the first call of each id, and those that got an id of their own.
    calls: HashMap<String, Call>,
    /// The ids of the calls in open blocks, by index.
    open: HashMap<u64, String>,
    held: Option<HeldBlock>,
    /// The indexes of the removed blocks.
    removed: Vec<u64>,
}

/// A block with the id of an earlier one.
#[derive(Debug)]
struct HeldBlock {
    index: u64,
    call: Call,
    /// All events since its start, with the index of the block that they belong to.
    events: Vec<(Option<u64>, RawEvent)>,
    bytes: usize,
}

impl AnthropicEvents {
    pub(super) fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn held(&self) -> usize {
        let calls = self.calls.values().map(|call| call.arguments.len()).sum::<usize>();
        calls + self.held.as_ref().map_or(0, |held| held.bytes)
    }

    /// Adds an event, and writes the events that pass. Returns the number of repairs.
    pub(super) fn add(&mut self, event: RawEvent, sent: &mut Vec<u8>) -> u64 {
        let data = event.data().unwrap_or_default();
        // A comment has no fields.
        let fields = Object::parse(&data).unwrap_or_default();
        let kind = fields.string("type").unwrap_or_default();
        let index = fields.get("index").and_then(|index| index.parse().ok());
        if kind.starts_with("message_") || kind == "error" {
            self.release(sent);
        }
        match (&*kind, index) {
            ("content_block_start", Some(index)) => self.start(index, &fields),
            ("content_block_delta", Some(index)) => self.continue_block(index, &fields),
            _ => {}
        }
        let ends = kind == "content_block_stop";
        let Some(held) = &mut self.held else {
            self.pass(&event, index, sent);
            return 0;
        };
        held.bytes += event.bytes.len();
        held.events.push((index, event));
        match ends && index == Some(held.index) {
            true => self.settle(sent),
            false => 0,
        }
    }

    fn start(&mut self, index: u64, fields: &Object<'_>) {
        let Some(call) = called(fields.get("content_block")) else { return };
        if self.held.is_some() {
            return;
        }
        if self.calls.contains_key(&call.id) {
            self.held = Some(HeldBlock { index, call, events: Vec::new(), bytes: 0 });
            return;
        }
        self.open.insert(index, call.id.clone());
        self.calls.insert(call.id.clone(), call);
    }

    fn continue_block(&mut self, index: u64, fields: &Object<'_>) {
        let delta = fields.get("delta").and_then(|delta| Object::parse_str(delta).ok());
        let Some(delta) = delta else { return };
        let json = delta.string("partial_json").unwrap_or_default();
        let held = self.held.as_mut().filter(|held| held.index == index);
        let call = match held {
            Some(held) => Some(&mut held.call),
            None => self.open.get(&index).and_then(|id| self.calls.get_mut(id)),
        };
        if let Some(call) = call {
            call.arguments.push_str(&json);
        }
    }

    /// Decides whether the held block, which has ended, is a repeat. Adds the events of other
    /// blocks that came in the meantime.
    fn settle(&mut self, sent: &mut Vec<u8>) -> u64 {
        let Some(HeldBlock { index, call, events, .. }) = self.held.take() else { return 0 };
        let is_repeat = self.calls.get(&call.id).is_some_and(|first| call.repeats(first));
        let mut repairs = 1;
        let (own, others): (Vec<_>, Vec<_>) =
            events.into_iter().partition(|(other, _)| *other == Some(index));
        if is_repeat {
            self.removed.push(index);
        } else {
            let id = fresh_id(&call.id, |id| self.calls.contains_key(id));
            for (index, event) in own {
                self.pass(&with_id(&event, &id), index, sent);
            }
            self.calls.insert(id.clone(), Call { id, ..call });
        }
        for (_, event) in others {
            repairs += self.add(event, sent);
        }
        repairs
    }

    /// Writes everything that is held, as it came.
    pub(super) fn release(&mut self, sent: &mut Vec<u8>) {
        for (index, event) in self.held.take().into_iter().flat_map(|held| held.events) {
            self.pass(&event, index, sent);
        }
    }

    /// Writes an event of the block `index`, which moves up by the removed blocks before it.
    fn pass(&self, event: &RawEvent, index: Option<u64>, sent: &mut Vec<u8>) {
        let before = |index: u64| self.removed.iter().filter(|it| **it < index).count() as u64;
        match index.map(|index| (index, before(index))).filter(|(_, before)| *before > 0) {
            Some((index, before)) => {
                change(event, |fields| fields.set("index", (index - before).to_string()))
                    .pass(sent);
            }
            None => sent.extend_from_slice(&event.bytes),
        }
    }
}

impl RawEvent {
    fn pass(&self, sent: &mut Vec<u8>) {
        sent.extend_from_slice(&self.bytes);
    }
}

/// The event with a change of its data.
fn change(event: &RawEvent, change: impl FnOnce(&mut Object<'_>)) -> RawEvent {
    let data = event.data().unwrap_or_default();
    let Ok(mut fields) = Object::parse(&data) else { return event.clone() };
    change(&mut fields);
    let mut bytes = Vec::new();
    event.write_with(&fields.to_text(), &mut bytes);
    RawEvent { bytes: bytes.into() }
}

/// The event with another id of its call, if it is the start of a block.
fn with_id(event: &RawEvent, id: &str) -> RawEvent {
    change(event, |fields| {
        let block = fields.get("content_block").map(str::to_owned);
        let block = block.as_deref().and_then(|block| Object::parse_str(block).ok());
        if let Some(mut block) = block {
            block.set("id", quote(id));
            let block = block.to_text();
            fields.set("content_block", block);
        }
    })
}

/// The call of a block.
fn called(block: Option<&str>) -> Option<Call> {
    call_of(&Object::parse_str(block?).ok()?)
}

fn call_of(block: &Object<'_>) -> Option<Call> {
    let is_call = block.string("type").as_deref() == Some("tool_use");
    let text = |key| block.string(key).unwrap_or_default().into_owned();
    let (id, name) = (text("id"), text("name"));
    let arguments = block.present("input").filter(|input| *input != "{}").unwrap_or_default();
    let arguments = arguments.to_owned();
    (is_call && !id.is_empty()).then_some(Call { id, name, arguments })
}

/// A message without repeated calls, and the number of repairs.
pub(super) fn without_repeats(message: Vec<u8>) -> (Vec<u8>, u64) {
    with_array(message, "content", |blocks| super::calls::without_repeats(blocks, call_of))
}
