//! Answers of a model, the ways in which servers stream them, and what befalls a stream.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{calls, chunk, finish, of, text};

pub(super) type Pieces = Vec<String>;

/// What a model says, in the pieces in which it streams.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) reasoning: Pieces,
    pub(super) content: Pieces,
    pub(super) calls: Vec<(String, Pieces)>,
}

/// How a server tells of calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
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
    InLeaps,
    /// Index 0 with every call.
    AllZero,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Naming {
    Unique,
    /// One id for all.
    Constant,
    Missing,
    Empty,
}

impl Manner {
    /// Whether calls can be told apart when their pieces come in any order; in order, whether the
    /// beginning of one can be told from the middle of another.
    pub(super) fn tells_calls_apart(self) -> bool {
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
            Counting::InLeaps => call["index"] = json!(at * 5 + 2),
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

pub(super) fn manner() -> impl Strategy<Value = Manner> {
    use {Counting as C, Naming as N};
    let counting =
        prop::sample::select(vec![C::FromZero, C::FromOne, C::InLeaps, C::AllZero, C::Missing]);
    let naming = prop::sample::select(vec![N::Unique, N::Constant, N::Missing, N::Empty]);
    (counting, naming, any::<[bool; 3]>()).prop_map(
        |(counting, naming, [repeats, interleaves, names_first])| Manner {
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

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let call = ("[a-c]", vec("[a-z{}\":\\\\,1\n]{1,5}", 1..4));
    (pieces(), pieces(), vec(call, 0..4)).prop_map(|(reasoning, content, calls)| Answer {
        reasoning,
        content,
        calls,
    })
}

impl Answer {
    /// The chunks as a server of this manner streams them.
    pub(super) fn chunks(&self, manner: Manner) -> Vec<Value> {
        let reasoning =
            self.reasoning.iter().map(|piece| chunk(&json!({"reasoning_content": piece})));
        let content = self.content.iter().map(|piece| text(piece));
        let mut chunks = vec![chunk(&json!({"role": "assistant", "content": ""}))];
        chunks.extend(reasoning.chain(content));
        chunks.extend(self.call_pieces(manner).iter().map(|piece| calls(&json!([piece]))));
        chunks
    }

    fn call_pieces(&self, manner: Manner) -> Vec<Value> {
        let mut told: Vec<Vec<Value>> = Vec::new();
        for (at, (name, arguments)) in self.calls.iter().enumerate() {
            let alone = manner.names_first.then_some(None);
            let heads = alone.into_iter().chain(arguments.iter().map(|it| Some(it.as_str())));
            let pieces = heads.enumerate();
            told.push(pieces.map(|(n, it)| manner.piece(at, name, it, n == 0)).collect());
        }
        if !manner.interleaves {
            return told.concat();
        }
        let longest = told.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|turn| told.iter().filter_map(move |it| it.get(turn)));
        turns.cloned().collect()
    }

    /// Whether there is anything in it.
    pub(super) fn says_anything(&self) -> bool {
        let texts = [&self.reasoning, &self.content];
        !self.calls.is_empty() || texts.iter().any(|pieces| !pieces.concat().is_empty())
    }

    /// Its calls: name and arguments.
    pub(super) fn called(&self) -> Vec<(String, String)> {
        self.calls.iter().map(|(name, arguments)| of(name, &arguments.concat())).collect()
    }
}

/// What befalls a stream.
#[derive(Clone, Debug)]
pub(super) enum Mishap {
    Cut(prop::sample::Index),
    Error(prop::sample::Index),
    Twice(prop::sample::Index),
    Swapped(prop::sample::Index),
    Finish(prop::sample::Index, &'static str),
    /// A field of a piece of a call is gone, or of another type.
    Spoiled(prop::sample::Index, &'static str, Value),
}

pub(super) fn mishap() -> impl Strategy<Value = Mishap> {
    let at = any::<prop::sample::Index>;
    let field = prop::sample::select(vec!["index", "id", "function", "type"]);
    let value =
        prop::sample::select(vec![json!(null), json!(0), json!(""), json!("call_0"), json!({})]);
    let reason = prop::sample::select(vec!["stop", "length", "error", "", "tool_calls"]);
    prop_oneof![
        at().prop_map(Mishap::Cut),
        at().prop_map(Mishap::Error),
        at().prop_map(Mishap::Twice),
        at().prop_map(Mishap::Swapped),
        (at(), reason).prop_map(|(at, reason)| Mishap::Finish(at, reason)),
        (at(), field, value).prop_map(|(at, field, value)| Mishap::Spoiled(at, field, value)),
    ]
}

pub(super) fn befall(chunks: &mut Vec<Value>, mishap: Mishap) {
    let place = |at: prop::sample::Index| at.index(chunks.len() + 1);
    match mishap {
        Mishap::Cut(at) => chunks.truncate(place(at)),
        Mishap::Error(at) => chunks.insert(place(at), json!({"error": {"message": "Oh."}})),
        Mishap::Finish(at, reason) => chunks.insert(place(at), finish(reason)),
        Mishap::Twice(at) => {
            let again = chunks.get(place(at)).cloned();
            chunks.extend(again);
        }
        Mishap::Swapped(at) => {
            let at = place(at);
            if at + 1 < chunks.len() {
                chunks.swap(at, at + 1);
            }
        }
        Mishap::Spoiled(at, field, value) => {
            let at = place(at);
            let call = chunks.get_mut(at);
            let call = call.and_then(|it| it.pointer_mut("/choices/0/delta/tool_calls/0"));
            if let Some(call) = call {
                call[field] = value;
            }
        }
    }
}
