//! Mishaps that upstreams add to streams.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::generator::{Role, Sent, Stream};

/// One fault of a stream.
#[derive(Clone, Debug)]
pub(crate) enum Mangling {
    /// An item is announced again: later, with another id, or at another index.
    AnnouncedAgain { item: Index, later: Index, other_id: bool, other_index: bool },
    /// A second path of the upstream sends a whole call again.
    SentAgain { item: Index, spaced: bool },
    /// Some events of an item are missing.
    Omitted { item: Index, role: Role },
    /// Some events of an item are repeated.
    Repeated { item: Index, role: Role },
    /// An item is announced after this number of its events.
    AnnouncedLate { item: Index, events: usize },
    /// An item's end has another id.
    OtherFinalId { item: Index },
    /// The final output has another id for an item.
    OtherIdInOutput { item: Index },
    /// An item has this bad id.
    Named { item: Index, id: BadId },
    /// A call has this bad `call_id`.
    CallNamed { item: Index, id: BadId },
    /// All calls have the same `call_id`.
    OneCallId,
    /// The output indexes are rotated.
    OtherIndexes { by: usize },
    /// All items have the same output index.
    OneIndex,
    /// The final output is empty.
    EmptyOutput,
    /// An unknown event, a lifecycle event or a second end is inserted.
    Stray { at: Index, event: usize },
    /// Log probabilities are missing.
    NoLogprobs,
    /// The stream breaks off.
    Cut { at: Index },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadId {
    Empty,
    Null,
    Number,
    Overlong,
    Malformed,
    Held,
}

/// The id of an item that the conversation holds.
pub(crate) const HELD_ID: &str = "msg_held";
/// The `call_id` of a call that the conversation holds.
pub(crate) const HELD_CALL: &str = "call_held";

fn bad_id() -> impl Strategy<Value = BadId> {
    use BadId::*;
    select(vec![Empty, Null, Number, Overlong, Malformed, Held])
}

fn role() -> impl Strategy<Value = Role> {
    use Role::*;
    select(vec![Added, PartAdded, TextDone, PartDone, Done])
}

fn mangling() -> impl Strategy<Value = Mangling> {
    let item = any::<Index>;
    let again = (item(), item(), any::<bool>(), any::<bool>());
    prop_oneof![
        4 => again.prop_map(|(item, later, other_id, other_index)| Mangling::AnnouncedAgain {
            item, later, other_id, other_index
        }),
        2 => (item(), any::<bool>())
            .prop_map(|(item, spaced)| Mangling::SentAgain { item, spaced }),
        6 => (item(), role()).prop_map(|(item, role)| Mangling::Omitted { item, role }),
        2 => (item(), role()).prop_map(|(item, role)| Mangling::Repeated { item, role }),
        2 => (item(), 1_usize..4)
            .prop_map(|(item, events)| Mangling::AnnouncedLate { item, events }),
        2 => item().prop_map(|item| Mangling::OtherFinalId { item }),
        2 => item().prop_map(|item| Mangling::OtherIdInOutput { item }),
        3 => (item(), bad_id()).prop_map(|(item, id)| Mangling::Named { item, id }),
        2 => (item(), bad_id()).prop_map(|(item, id)| Mangling::CallNamed { item, id }),
        1 => Just(Mangling::OneCallId),
        2 => (1_usize..4).prop_map(|by| Mangling::OtherIndexes { by }),
        1 => Just(Mangling::OneIndex),
        1 => Just(Mangling::EmptyOutput),
        2 => (item(), 0..STRAYS).prop_map(|(at, event)| Mangling::Stray { at, event }),
        1 => Just(Mangling::NoLogprobs),
        2 => item().prop_map(|at| Mangling::Cut { at }),
    ]
}

/// Up to four faults of one stream.
pub(crate) fn manglings() -> impl Strategy<Value = Vec<Mangling>> {
    vec(mangling(), 0..5)
}

const STRAYS: usize = 6;

fn stray(which: usize) -> Value {
    match which {
        0 => json!({"type": "response.in_progress", "response": {"id": "resp_up"}}),
        1 => json!({"type": "response.created", "response": {"id": "resp_other"}}),
        2 => json!({"type": "acme:ping", "sequence_number": 77}),
        3 => json!({"type": "response.acme.progress", "output_index": 99, "item_id": "x"}),
        4 => json!({"type": "response.acme.progress", "output_index": 0}),
        _ => json!({}),
    }
}

impl Stream {
    /// Applies a fault.
    pub(crate) fn mangle(&mut self, mangling: &Mangling) {
        let count = self.count;
        match mangling {
            Mangling::NoLogprobs => self.events.iter_mut().for_each(|sent| {
                sent.json.as_object_mut().unwrap().remove("logprobs");
            }),
            Mangling::EmptyOutput => self.output.clear(),
            Mangling::OneCallId => self.each_item(|_, item| {
                if item["type"] == "function_call" {
                    item["call_id"] = "call_all".into();
                }
            }),
            Mangling::OneIndex => self.each_index(|_| 0),
            Mangling::OtherIndexes { by } => {
                self.each_index(|index| (index + by) % count.max(1));
            }
            Mangling::Stray { at, event } => {
                let at = at.index(self.events.len() + 1);
                self.events.insert(at, Sent { of: None, json: stray(*event) });
            }
            Mangling::Cut { at } => {
                let at = at.index(self.events.len() + 1);
                self.events.truncate(at);
            }
            _ if count > 0 => self.befall_item(mangling, count),
            _ => {}
        }
    }

    fn befall_item(&mut self, mangling: &Mangling, count: usize) {
        match mangling {
            Mangling::AnnouncedAgain { item, later, other_id, other_index } => {
                self.announce_again(item.index(count), *later, *other_id, *other_index);
            }
            Mangling::SentAgain { item, spaced } => self.send_again(item.index(count), *spaced),
            Mangling::Omitted { item, role } => {
                let of = Some((item.index(count), *role));
                self.events.retain(|sent| sent.of != of);
            }
            Mangling::Repeated { item, role } => {
                let of = Some((item.index(count), *role));
                let repeat = |sent: Sent| vec![sent.clone(); 1 + usize::from(sent.of == of)];
                self.events = self.events.drain(..).flat_map(repeat).collect();
            }
            Mangling::AnnouncedLate { item, events } => {
                self.announce_late(item.index(count), *events);
            }
            Mangling::OtherFinalId { item } => {
                let of = Some((item.index(count), Role::Done));
                for sent in self.events.iter_mut().filter(|sent| sent.of == of) {
                    rename(&mut sent.json["item"], "other");
                }
            }
            Mangling::OtherIdInOutput { item } => {
                if let Some(item) = self.output.get_mut(item.index(count)) {
                    rename(item, "final");
                }
            }
            Mangling::Named { item, id } => {
                let item = item.index(count);
                let id = id.value("msg", HELD_ID);
                self.each_item(|at, json| set_if(at == item, json, "id", &id));
                self.each_event(|at, json| set_if(at == item, json, "item_id", &id));
            }
            Mangling::CallNamed { item, id } => {
                let item = item.index(count);
                let id = id.value("call", HELD_CALL);
                self.each_item(|at, json| {
                    set_if(at == item && json.get("call_id").is_some(), json, "call_id", &id);
                });
            }
            _ => unreachable!("the others befall the whole stream"),
        }
    }

    fn announce_again(&mut self, item: usize, later: Index, other_id: bool, other_index: bool) {
        let Some(at) = self.position(item, Role::Added) else { return };
        let mut again = self.events[at].clone();
        // A message with another id counts as the same one only while it is empty.
        if other_id && again.json["item"].get("call_id").is_some() {
            rename(&mut again.json["item"], "again");
        }
        if other_index {
            again.json["output_index"] = (self.count + 7).into();
        }
        let later = at + 1 + later.index(self.events.len() - at);
        self.events.insert(later, Sent { of: None, ..again });
    }

    fn send_again(&mut self, item: usize, spaced: bool) {
        let Some(at) = self.position(item, Role::Done) else { return };
        let mut ended = self.events[at].json.clone();
        if ended["item"]["type"] != "function_call" {
            return;
        }
        rename(&mut ended["item"], "echo");
        ended["output_index"] = (self.count + 9).into();
        if spaced {
            let arguments = ended["item"]["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            ended["item"]["arguments"] = serde_json::to_string_pretty(&arguments).unwrap().into();
        }
        let mut announced = ended.clone();
        announced["type"] = "response.output_item.added".into();
        for json in [ended, announced] {
            self.events.insert(at, Sent { of: None, json });
        }
    }

    fn announce_late(&mut self, item: usize, events: usize) {
        let Some(at) = self.position(item, Role::Added) else { return };
        let announced = self.events.remove(at);
        let later =
            self.events.iter().enumerate().filter(|(_, sent)| {
                sent.of.is_some_and(|(of, role)| of == item && role != Role::Done)
            });
        let later = later.map(|(at, _)| at + 1).take(events).last();
        self.events.insert(later.unwrap_or(at), announced);
    }

    fn position(&self, item: usize, role: Role) -> Option<usize> {
        self.events.iter().position(|sent| sent.of == Some((item, role)))
    }

    fn each_event(&mut self, change: impl Fn(usize, &mut Value)) {
        for sent in &mut self.events {
            if let Some((item, _)) = sent.of.filter(|_| sent.json.get("item_id").is_some()) {
                change(item, &mut sent.json);
            }
        }
    }

    fn each_item(&mut self, change: impl Fn(usize, &mut Value)) {
        for sent in &mut self.events {
            if let Some((item, _)) = sent.of.filter(|_| sent.json.get("item").is_some()) {
                change(item, &mut sent.json["item"]);
            }
        }
        for (at, item) in self.output.iter_mut().enumerate() {
            change(at, item);
        }
    }

    fn each_index(&mut self, change: impl Fn(usize) -> usize) {
        for sent in self.events.iter_mut().filter(|sent| sent.of.is_some()) {
            let index = sent.json["output_index"].as_u64().unwrap();
            sent.json["output_index"] = change(usize::try_from(index).unwrap()).into();
        }
    }
}

impl BadId {
    fn value(self, prefix: &str, held: &str) -> Value {
        match self {
            Self::Empty => json!(""),
            Self::Null => Value::Null,
            Self::Number => json!(7),
            Self::Overlong => format!("{prefix}_{}", "x".repeat(70)).into(),
            Self::Malformed => json!("\u{e9} id"),
            Self::Held => json!(held),
        }
    }
}

fn set_if(holds: bool, json: &mut Value, key: &str, value: &Value) {
    if holds {
        json[key] = value.clone();
    }
}

fn rename(item: &mut Value, suffix: &str) {
    let id = item["id"].as_str().unwrap_or_default();
    item["id"] = format!("{id}_{suffix}").into();
}
