//! What the items say about state that this provider does not keep.

use std::collections::HashSet;

use super::item::Item;
use crate::{Refusal, seal};

/// Nothing was stored, so no item can be referred to, and reasoning without its content is no more
/// than a reference.
pub(super) fn nothing_left_with_the_provider(items: &[Item<'_>]) -> Result<(), Refusal> {
    let missing = items.iter().find_map(|item| match item.kind() {
        "item_reference" => Some(item.id().unwrap_or_default()),
        "reasoning" if item.encrypted_content().is_none() => item.id(),
        _ => None,
    });
    missing.map_or(Ok(()), |id| Err(Refusal::item_not_found(id)))
}

/// Encrypted content comes back under the id and to the model that it was issued for.
pub fn issued_for(model: &str, items: &[Item<'_>]) -> Result<(), Refusal> {
    let sealed = items.iter().filter(|item| matches!(item.kind(), "reasoning" | "compaction"));
    sealed
        .filter_map(|item| Some((item.encrypted_content()?, item.id())))
        .try_for_each(|(content, id)| seal::verify(content, model, id))
}

/// No id stands twice.
///
/// The id of a local shell's output is the id of the call it answers, so it may stand twice.
pub fn no_item_twice(items: &[Item<'_>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    let own = items.iter().filter(|item| item.kind() != "local_shell_call_output");
    match own.filter_map(Item::id).find(|id| !seen.insert(*id)) {
        Some(id) => Err(Refusal::duplicate_item(id)),
        None => Ok(()),
    }
}

/// Reasoning leads to something that the model did.
pub fn no_lone_reasoning(items: &[Item<'_>]) -> Result<(), Refusal> {
    let mut leading_nowhere_yet = None;
    for item in items {
        match (item.kind(), leading_nowhere_yet) {
            ("reasoning", _) => {
                leading_nowhere_yet.get_or_insert(item.id().unwrap_or_default());
            }
            (_, Some(id)) if !item.is_of_the_model() => return Err(Refusal::lone_reasoning(id)),
            _ => leading_nowhere_yet = None,
        }
    }
    leading_nowhere_yet.map_or(Ok(()), |id| Err(Refusal::lone_reasoning(id)))
}
