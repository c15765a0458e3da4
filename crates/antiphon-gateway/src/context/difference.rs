//! The difference between the prompts of two turns.

use serde::Serialize;

use super::{Context, ContextItem};

/// The changes from an earlier prompt to a later one. Positions are those of items in their
/// prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The id of the earlier turn.
    pub(crate) previous: String,
    /// Whether instructions and tools are equal. If not, a provider's prompt cache ends before the
    /// first item.
    pub(crate) same_instructions_and_tools: bool,
    /// The number of equal items at the start of both prompts.
    pub(crate) common_items: usize,
    /// The bytes of the items up to the first difference, in the items that both prompts have at
    /// their start and in the first item that differs. A prompt cache cannot reach further.
    pub(crate) common_bytes: usize,
    /// The positions in the earlier prompt of the items after the common ones.
    pub(crate) removed: Vec<usize>,
    /// The positions in the later prompt of the items after the common ones.
    pub(crate) added: Vec<usize>,
}

impl Difference {
    /// Compares the prompts of two turns.
    pub(crate) fn new(earlier: &Context, later: &Context) -> Self {
        let (old, new) = (&earlier.items, &later.items);
        let pairs = old.iter().zip(new).map(|(old, new)| (bytes(old), bytes(new)));
        let equal = pairs.take_while(|(old, new)| old.is_some() && old == new);
        let equal: Vec<usize> = equal.map(|(_, new)| new.map_or(0, <[u8]>::len)).collect();
        let common = equal.len();
        let first = old.get(common).and_then(bytes).zip(new.get(common).and_then(bytes));
        let partial = first.map_or(0, |(old, new)| {
            old.iter().zip(new).take_while(|(old, new)| old == new).count()
        });
        Self {
            previous: earlier.id.clone(),
            same_instructions_and_tools: earlier.prefix_fields() == later.prefix_fields(),
            common_items: common,
            common_bytes: equal.iter().sum::<usize>() + partial,
            removed: (common..old.len()).collect(),
            added: (common..new.len()).collect(),
        }
    }
}

fn bytes(item: &ContextItem) -> Option<&[u8]> {
    item.item.as_ref().map(|item| &item.raw()[..])
}

impl Context {
    /// The fields that precede the items in the input of a model.
    fn prefix_fields(&self) -> [Option<String>; 3] {
        let fields = antiphon::json::Object::parse_str(&self.fields).unwrap_or_default();
        ["model", "instructions", "tools"].map(|key| fields.present(key).map(str::to_owned))
    }
}
