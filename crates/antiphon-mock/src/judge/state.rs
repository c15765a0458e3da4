//! References to state, which this provider does not keep, and relations between items.

use std::collections::HashSet;

use super::item::Item;
use crate::{Refusal, seal};

/// Refuses item references and reasoning without content, because nothing is stored.
pub(super) fn no_references(items: &[Item<'_>]) -> Result<(), Refusal> {
    let missing = items.iter().find_map(|item| match item.kind() {
        "item_reference" => Some(item.id().unwrap_or_default()),
        "reasoning" if item.encrypted_content().is_none() => item.id(),
        _ => None,
    });
    missing.map_or(Ok(()), |id| Err(Refusal::item_not_found(id)))
}

/// Checks that encrypted content has the item id and the model that it was issued for.
pub fn check_encrypted_content(model: &str, items: &[Item<'_>]) -> Result<(), Refusal> {
    let sealed = items.iter().filter(|item| matches!(item.kind(), "reasoning" | "compaction"));
    sealed
        .filter_map(|item| Some((item.encrypted_content()?, item.id())))
        .try_for_each(|(content, id)| seal::verify(content, model, id))
}

/// Refuses an id that occurs twice.
///
/// A local shell's output has the id of its call, so that id may occur twice.
pub fn no_duplicate_items(items: &[Item<'_>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    let own = items.iter().filter(|item| item.kind() != "local_shell_call_output");
    match own.filter_map(Item::id).find(|id| !seen.insert(*id)) {
        Some(id) => Err(Refusal::duplicate_item(id)),
        None => Ok(()),
    }
}

/// Refuses reasoning that is not followed by model output.
pub fn no_lone_reasoning(items: &[Item<'_>]) -> Result<(), Refusal> {
    let mut pending = None;
    for item in items {
        match (item.kind(), pending) {
            ("reasoning", _) => {
                pending.get_or_insert(item.id().unwrap_or_default());
            }
            (_, Some(id)) if !item.is_model_output() => return Err(Refusal::lone_reasoning(id)),
            _ => pending = None,
        }
    }
    pending.map_or(Ok(()), |id| Err(Refusal::lone_reasoning(id)))
}
