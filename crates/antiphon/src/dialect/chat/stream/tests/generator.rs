//! Answers of a model, the formats in which servers stream them, and faults in a stream.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{calls, chunk, finish, named_call, text};

pub(in crate::dialect::chat) type Pieces = Vec<String>;

/// The output of a model, in deltas.
#[derive(Clone, Debug)]
pub(in crate::dialect::chat) struct Answer {
    pub(in crate::dialect::chat) reasoning: Pieces,
    pub(in crate::dialect::chat) content: Pieces,
    pub(super) calls: Vec<(String, Pieces)>,
}

/// The format in which a server streams calls.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect::chat) struct CallFormat {
    pub(super) counting: Counting,
    pub(super) naming: Naming,
    pub(super) repeats: bool,
    pub(super) interleaves: bool,
    pub(super) names_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counting {
    FromZero,
    FromOne,
    WithGaps,
    /// Index 0 for every call.
    AllZero,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Naming {
    Unique,
    /// One id for all calls.
    Constant,
    Missing,
    Empty,
}

impl CallFormat {
    /// Whether fragments can be assigned to their calls. If calls do not interleave, this means
    /// that the first fragment of a call differs from a later fragment of the call before it.
    pub(in crate::dialect::chat) fn distinguishes_calls(self) -> bool {
        let is_counted = !matches!(self.counting, Counting::AllZero | Counting::Missing);
        let is_named = self.naming == Naming::Unique && (!self.interleaves || self.repeats);
        let by_names = self.counting == Counting::Missing
            && matches!(self.naming, Naming::Missing | Naming::Empty)
            && !self.repeats
            && !self.interleaves;
        let by_ids = is_named && !(self.counting == Counting::AllZero && self.interleaves);
        is_counted || by_ids || by_names
    }

    fn piece(self, at: usize, name: &str, arguments: Option<&str>, is_first: bool) -> Value {
        let mut call = json!({"function": {}});
        match self.counting {
            Counting::FromZero => call["index"] = json!(at),
            Counting::FromOne => call["index"] = json!(at + 1),
            Counting::WithGaps => call["index"] = json!(at * 5 + 2),
            Counting::AllZero => call["index"] = json!(0),
            Counting::Missing => {}
        }
        let is_named = is_first || self.repeats;
        match self.naming {
            Naming::Unique if is_named => call["id"] = json!(format!("call_{at}")),
            Naming::Constant if is_named => call["id"] = json!("call"),
            Naming::Empty => call["id"] = json!(""),
            _ => {}
        }
        if is_named {
            call["function"]["name"] = json!(name);
        }
        if let Some(arguments) = arguments {
            call["function"]["arguments"] = json!(arguments);
        }
        call
    }
}

pub(in crate::dialect::chat) fn call_format() -> impl Strategy<Value = CallFormat> {
    use {Counting as C, Naming as N};
    let counting =
        prop::sample::select(vec![C::FromZero, C::FromOne, C::WithGaps, C::AllZero, C::Missing]);
    let naming = prop::sample::select(vec![N::Unique, N::Constant, N::Missing, N::Empty]);
    (counting, naming, any::<[bool; 3]>()).prop_map(
        |(counting, naming, [repeats, interleaves, names_first])| CallFormat {
            counting,
            naming,
            repeats,
            interleaves,
            names_first,
        },
    )
}

fn pieces() -> impl Strategy<Value = Pieces> {
    vec("[a-z \\\\\"/\n\u{e9}\u{1f600}]{0,5}", 0..4)
}

pub(in crate::dialect::chat) fn answer() -> impl Strategy<Value = Answer> {
    let call = ("[a-c]", vec("[a-z{}\":\\\\,1\n]{1,5}", 1..4));
    (pieces(), pieces(), vec(call, 0..4)).prop_map(|(reasoning, content, calls)| Answer {
        reasoning,
        content,
        calls,
    })
}

impl Answer {
    /// The chunks of a server with this format.
    pub(in crate::dialect::chat) fn chunks(&self, call_format: CallFormat) -> Vec<Value> {
        let reasoning =
            self.reasoning.iter().map(|piece| chunk(&json!({"reasoning_content": piece})));
        let content = self.content.iter().map(|piece| text(piece));
        let mut chunks = vec![chunk(&json!({"role": "assistant", "content": ""}))];
        chunks.extend(reasoning.chain(content));
        chunks.extend(self.call_pieces(call_format).iter().map(|piece| calls(&json!([piece]))));
        chunks
    }

    fn call_pieces(&self, call_format: CallFormat) -> Vec<Value> {
        let mut calls: Vec<Vec<Value>> = Vec::new();
        for (at, (name, arguments)) in self.calls.iter().enumerate() {
            let alone = call_format.names_first.then_some(None);
            let heads = alone.into_iter().chain(arguments.iter().map(|it| Some(it.as_str())));
            let pieces = heads.enumerate();
            calls.push(pieces.map(|(n, it)| call_format.piece(at, name, it, n == 0)).collect());
        }
        if !call_format.interleaves {
            return calls.concat();
        }
        let longest = calls.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| calls.iter().filter_map(move |it| it.get(turn)));
        turns.cloned().collect()
    }

    /// Whether the answer has any output.
    pub(in crate::dialect::chat) fn has_output(&self) -> bool {
        let texts = [&self.reasoning, &self.content];
        !self.calls.is_empty() || texts.iter().any(|pieces| !pieces.concat().is_empty())
    }

    /// The calls: name and arguments.
    pub(super) fn called(&self) -> Vec<(String, String)> {
        self.calls.iter().map(|(name, arguments)| named_call(name, &arguments.concat())).collect()
    }
}

/// A fault in a stream.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    Cut(prop::sample::Index),
    Error(prop::sample::Index),
    Twice(prop::sample::Index),
    Swapped(prop::sample::Index),
    Finish(prop::sample::Index, &'static str),
    /// A field of a call's fragment is missing or has another type.
    Spoiled(prop::sample::Index, &'static str, Value),
}

pub(super) fn fault() -> impl Strategy<Value = Fault> {
    let at = any::<prop::sample::Index>;
    let field = prop::sample::select(vec!["index", "id", "function", "type"]);
    let value =
        prop::sample::select(vec![json!(null), json!(0), json!(""), json!("call_0"), json!({})]);
    let reason = prop::sample::select(vec!["stop", "length", "error", "", "tool_calls"]);
    prop_oneof![
        at().prop_map(Fault::Cut),
        at().prop_map(Fault::Error),
        at().prop_map(Fault::Twice),
        at().prop_map(Fault::Swapped),
        (at(), reason).prop_map(|(at, reason)| Fault::Finish(at, reason)),
        (at(), field, value).prop_map(|(at, field, value)| Fault::Spoiled(at, field, value)),
    ]
}

pub(super) fn apply_fault(chunks: &mut Vec<Value>, fault: Fault) {
    let place = |at: prop::sample::Index| at.index(chunks.len() + 1);
    match fault {
        Fault::Cut(at) => chunks.truncate(place(at)),
        Fault::Error(at) => chunks.insert(place(at), json!({"error": {"message": "Oh."}})),
        Fault::Finish(at, reason) => chunks.insert(place(at), finish(reason)),
        Fault::Twice(at) => {
            let again = chunks.get(place(at)).cloned();
            chunks.extend(again);
        }
        Fault::Swapped(at) => {
            let at = place(at);
            if at + 1 < chunks.len() {
                chunks.swap(at, at + 1);
            }
        }
        Fault::Spoiled(at, field, value) => {
            let at = place(at);
            let call = chunks.get_mut(at);
            let call = call.and_then(|it| it.pointer_mut("/choices/0/delta/tool_calls/0"));
            if let Some(call) = call {
                call[field] = value;
            }
        }
    }
}
