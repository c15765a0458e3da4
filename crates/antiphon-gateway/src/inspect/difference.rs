//! The difference between the inputs that a model was given in two turns.

use serde::Serialize;

use crate::context::{Context, ContextItem};

/// The difference between the input of a turn and that of the turn before. A provider's prompt cache
/// holds the beginning that both have in common.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The response of the turn before; `None` for the first turn.
    previous: Option<String>,
    /// Whether instructions, tools or another field of the request differ. The prompt then differs
    /// from its first byte on.
    fields_differ: bool,
    /// The number of items at the start that are equal.
    common_items: usize,
    /// The number of bytes at the start of the items' JSON that are equal.
    common_bytes: usize,
    /// The bytes of all items of this turn.
    bytes: usize,
    /// The positions of the items of the turn before that follow the common ones.
    removed: Vec<String>,
    /// The items of this turn that follow the common ones.
    added: Vec<String>,
    /// The tokens of this turn's prompt, as the provider reported them.
    input_tokens: Option<u64>,
    /// Those of them that came from its cache.
    cached_tokens: Option<u64>,
}

impl Difference {
    /// The difference of `context` from `previous`, which is `None` for the first turn.
    pub(crate) fn between(previous: Option<&Context>, context: &Context) -> Self {
        let none = Vec::new();
        let (before, after) = (previous.map_or(&none, |it| &it.items), &context.items);
        let pairs = || before.iter().zip(after);
        let common_items = pairs().take_while(|(old, new)| text(old) == text(new)).count();
        let common: usize = after[..common_items].iter().map(|item| text(item).len()).sum();
        let within = pairs().nth(common_items).map_or(0, |(old, new)| {
            let bytes = text(old).bytes().zip(text(new).bytes());
            bytes.take_while(|(old, new)| old == new).count()
        });
        let rest = |items: &[ContextItem]| items.iter().skip(common_items).map(describe).collect();
        Self {
            previous: previous.map(|it| it.id.clone()),
            fields_differ: previous.is_some_and(|it| it.fields != context.fields),
            common_items,
            common_bytes: common + within,
            bytes: after.iter().map(|item| text(item).len()).sum(),
            removed: rest(before),
            added: rest(after),
            input_tokens: context.input_tokens,
            cached_tokens: context.cached_tokens,
        }
    }
}

/// The JSON of an item; empty for a deleted one.
fn text(item: &ContextItem) -> &str {
    let raw = item.item.as_ref().map(antiphon::Item::raw);
    raw.and_then(|raw| std::str::from_utf8(raw).ok()).unwrap_or_default()
}

/// The kind and the id of an item.
fn describe(item: &ContextItem) -> String {
    let kind = item.head.kind.to_string();
    let call = item.head.call_id.as_ref().map(ToString::to_string);
    match item.id.clone().or(call) {
        Some(id) => format!("{kind} {id}"),
        None => kind,
    }
}
