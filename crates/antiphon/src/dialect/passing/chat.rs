//! The `tool_calls` of a completion.

use std::collections::{BTreeMap, HashSet};

use super::calls::{Call, fresh_id, with_array};
use super::events::RawEvent;
use crate::json::{Object, objects, quote};

/// The chunks of a stream. The fragments of a call that may be a repeat are held until its choice
/// ends.
#[derive(Debug, Default)]
pub(super) struct ChatEvents {
    choices: BTreeMap<u64, Choice>,
    /// The last chunk with a held fragment.
    envelope: Option<RawEvent>,
}

/// The calls of a choice, in the order of their first fragments.
#[derive(Debug, Default)]
struct Choice {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    /// The index that the upstream gave it. Some servers give none.
    index: Option<u64>,
    call: Call,
    /// Whether an earlier call has its id.
    is_held: bool,
}

/// A part of a call in a chunk.
struct Fragment<'a> {
    object: Object<'a>,
    index: Option<u64>,
    /// Empty in a fragment that continues a call.
    id: String,
    name: String,
    arguments: String,
}

impl ChatEvents {
    pub(super) fn is_idle(&self) -> bool {
        self.envelope.is_none()
    }

    pub(super) fn held(&self) -> usize {
        let slots = self.choices.values().flat_map(|choice| &choice.slots);
        slots.map(|slot| slot.call.arguments.len()).sum()
    }

    /// Adds a chunk, and writes the chunks that pass. Returns the number of repairs.
    pub(super) fn add(&mut self, event: &RawEvent, sent: &mut Vec<u8>) -> u64 {
        let data = event.data().unwrap_or_default();
        let mut repairs = 0;
        let Ok(chunk) = Object::parse(&data) else {
            // `[DONE]`, or no chunk at all.
            repairs += self.end(sent);
            sent.extend_from_slice(&event.bytes);
            return repairs;
        };
        let mut is_changed = false;
        let mut choices = Vec::new();
        for choice in objects(chunk.get("choices").unwrap_or_default()) {
            let ends = choice.present("finish_reason").is_some();
            let read = self.read_choice(&choice, event);
            repairs += read.repairs;
            if ends {
                repairs += self.end(sent);
            }
            is_changed |= read.is_changed;
            choices.extend(read.left);
        }
        match is_changed {
            false => sent.extend_from_slice(&event.bytes),
            true if choices.is_empty() && chunk.present("usage").is_none() => {}
            true => {
                let mut chunk = chunk.clone();
                chunk.set("choices", format!("[{}]", choices.join(",")));
                event.write_with(&chunk.to_text(), sent);
            }
        }
        repairs
    }

    /// Reads the fragments of a choice.
    fn read_choice(&mut self, choice: &Object<'_>, event: &RawEvent) -> ReadChoice {
        let unchanged =
            |repairs| ReadChoice { left: Some(choice.to_text()), is_changed: false, repairs };
        let number = choice.get("index").and_then(|index| index.parse().ok()).unwrap_or_default();
        let delta = choice.present("delta").and_then(|delta| Object::parse_str(delta).ok());
        let Some(delta) = delta else { return unchanged(0) };
        let Some(calls) = delta.present("tool_calls") else { return unchanged(0) };
        let calls_of = self.choices.entry(number).or_default();
        let (mut kept, mut repairs, mut is_changed) = (Vec::new(), 0, false);
        for fragment in objects(calls).into_iter().map(Fragment::new) {
            match calls_of.read(&fragment) {
                Read::Passes(index) if index == fragment.index => {
                    kept.push(fragment.object.to_text());
                    continue;
                }
                Read::Passes(index) => kept.push(fragment.with_index(index)),
                Read::Repeat => repairs += 1,
                Read::Held => self.envelope = Some(event.clone()),
            }
            is_changed = true;
        }
        match is_changed {
            true => ReadChoice { left: changed(choice, &delta, &kept), is_changed, repairs },
            false => unchanged(repairs),
        }
    }

    /// Writes the held calls that are not repeats, with ids of their own. Returns the number of
    /// repairs.
    pub(super) fn end(&mut self, sent: &mut Vec<u8>) -> u64 {
        let Some(envelope) = self.envelope.take() else { return 0 };
        let mut repairs = 0;
        for (number, choice) in &mut self.choices {
            let (others, dropped) = choice.settle();
            repairs += dropped;
            if !others.is_empty() {
                write_calls(&envelope, *number, &others, sent);
            }
        }
        repairs
    }

    /// Writes everything that is held.
    pub(super) fn release(&mut self, sent: &mut Vec<u8>) {
        self.end(sent);
    }
}

/// A choice of a chunk after its calls were read.
struct ReadChoice {
    /// The choice without the fragments that do not pass; `None` if nothing of it is left.
    left: Option<String>,
    is_changed: bool,
    repairs: u64,
}

/// The place of a fragment.
enum Read {
    /// It passes with this index.
    Passes(Option<u64>),
    Held,
    /// It announces a whole call again.
    Repeat,
}

impl Choice {
    /// Adds a fragment to its call: the last one with its index, unless the fragment has another
    /// id. Some servers give each call the index 0.
    fn read(&mut self, fragment: &Fragment<'_>) -> Read {
        let known = self.slots.iter().rposition(|slot| {
            let id = &slot.call.id;
            slot.index == fragment.index && (fragment.id.is_empty() || *id == fragment.id)
        });
        let Some(at) = known else { return self.begin(fragment) };
        let slot = &mut self.slots[at];
        if !fragment.id.is_empty() && fragment.repeats(&slot.call) {
            return Read::Repeat;
        }
        slot.call.arguments.push_str(&fragment.arguments);
        match slot.is_held {
            true => Read::Held,
            false => Read::Passes(self.index_of(at)),
        }
    }

    fn begin(&mut self, fragment: &Fragment<'_>) -> Read {
        let (id, name) = (fragment.id.clone(), fragment.name.clone());
        let is_held = !id.is_empty() && self.slots.iter().any(|slot| slot.call.id == id);
        let call = Call { id, name, arguments: fragment.arguments.clone() };
        self.slots.push(Slot { index: fragment.index, call, is_held });
        match is_held {
            true => Read::Held,
            false => Read::Passes(self.index_of(self.slots.len() - 1)),
        }
    }

    /// The index of a call for the client: it moves up by the held calls before it.
    fn index_of(&self, at: usize) -> Option<u64> {
        let index = self.slots[at].index?;
        let is_before = |slot: &&Slot| slot.is_held && slot.index.is_some_and(|it| it < index);
        Some(index - self.slots[..at].iter().filter(is_before).count() as u64)
    }

    /// Ends the held calls. Returns those that are not repeats, with their index, and the number of
    /// repairs.
    fn settle(&mut self) -> (Vec<(u64, Call)>, u64) {
        let mut ids: HashSet<String> = self.slots.iter().map(|slot| slot.call.id.clone()).collect();
        let (held, slots): (Vec<Slot>, Vec<Slot>) =
            self.slots.drain(..).partition(|slot| slot.is_held);
        let (mut others, mut repairs) = (Vec::new(), 0);
        for Slot { mut call, .. } in held {
            repairs += 1;
            let first = slots.iter().find(|slot| slot.call.id == call.id);
            if first.is_some_and(|first| call.repeats(&first.call)) {
                continue;
            }
            call.id = fresh_id(&call.id, |id| ids.contains(id));
            ids.insert(call.id.clone());
            others.push((slots.len() as u64 + others.len() as u64, call));
        }
        self.slots = slots;
        (others, repairs)
    }
}

impl<'a> Fragment<'a> {
    fn new(object: Object<'a>) -> Self {
        let index = object.get("index").and_then(|index| index.parse().ok());
        let Call { id, name, arguments } = call_of(&object);
        Self { object, index, id, name, arguments }
    }

    /// Whether it announces this call again, with all of its arguments. Some servers send the id
    /// and the name with each fragment.
    fn repeats(&self, call: &Call) -> bool {
        let is_whole = serde_json::from_str::<serde_json::Value>(&self.arguments).is_ok();
        is_whole && self.name == call.name && self.arguments == call.arguments
    }

    fn with_index(&self, index: Option<u64>) -> String {
        let mut object = self.object.clone();
        object.set("index", index.unwrap_or_default().to_string());
        object.to_text()
    }
}

/// The choice with these fragments; `None` if nothing of it is left.
fn changed(choice: &Object<'_>, delta: &Object<'_>, kept: &[String]) -> Option<String> {
    let mut delta = delta.clone();
    match kept.is_empty() {
        true => delta.remove("tool_calls"),
        false => delta.set("tool_calls", format!("[{}]", kept.join(","))),
    }
    let is_empty = delta.iter().all(|(_, raw)| matches!(raw, "null" | r#""""#));
    if is_empty && choice.present("finish_reason").is_none() {
        return None;
    }
    let mut choice = choice.clone();
    choice.set("delta", delta.to_text());
    Some(choice.to_text())
}

/// Writes a chunk with whole calls, in the form of this one.
fn write_calls(envelope: &RawEvent, choice: u64, calls: &[(u64, Call)], sent: &mut Vec<u8>) {
    let data = envelope.data().unwrap_or_default();
    let Ok(mut chunk) = Object::parse(&data) else { return };
    let calls: Vec<String> = calls.iter().map(|(index, call)| whole_call(*index, call)).collect();
    let delta = format!(r#"{{"tool_calls":[{}]}}"#, calls.join(","));
    let choice = format!(r#"[{{"index":{choice},"delta":{delta},"finish_reason":null}}]"#);
    chunk.set("choices", choice);
    chunk.remove("usage");
    envelope.write_with(&chunk.to_text(), sent);
}

/// A fragment with all of a call.
fn whole_call(index: u64, Call { id, name, arguments }: &Call) -> String {
    let (id, name, arguments) = (quote(id), quote(name), quote(arguments));
    let function = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
    format!(r#"{{"index":{index},"id":{id},"type":"function","function":{function}}}"#)
}

/// A call or a fragment of one.
fn call_of(object: &Object<'_>) -> Call {
    let function = object.present("function").and_then(|raw| Object::parse_str(raw).ok());
    let function = function.unwrap_or_default();
    let text = |object: &Object<'_>, key| object.string(key).unwrap_or_default().into_owned();
    let id = text(object, "id");
    let (name, arguments) = (text(&function, "name"), text(&function, "arguments"));
    Call { id, name, arguments }
}

/// A completion without repeated calls, and the number of repairs.
pub(super) fn without_repeats(completion: Vec<u8>) -> (Vec<u8>, u64) {
    with_array(completion, "choices", |choices| {
        let mut repairs = 0;
        let choices = choices.into_iter().map(|choice| match changed_choice(&choice) {
            Some((changed, count)) => {
                repairs += count;
                changed
            }
            None => choice.to_text(),
        });
        let choices = choices.collect();
        (repairs > 0).then_some((choices, repairs))
    })
}

fn changed_choice(choice: &Object<'_>) -> Option<(String, u64)> {
    let mut message = Object::parse_str(choice.present("message")?).ok()?;
    let calls = message.present("tool_calls")?.to_owned();
    let identified = |call: &Object<'_>| Some(call_of(call)).filter(|call| !call.id.is_empty());
    let (calls, repairs) = super::calls::without_repeats(objects(&calls), identified)?;
    message.set("tool_calls", format!("[{}]", calls.join(",")));
    let mut choice = choice.clone();
    choice.set("message", message.to_text());
    Some((choice.to_text(), repairs))
}
