//! Rules about the relations between a turn's items.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::resolve::Resolved;
use crate::Refusal;
use crate::account::{Account, StoredItem};
use crate::judge::{Item, pairs, state};

/// Validates the whole model input and returns the first refusal.
pub(super) fn validate(
    model: &str,
    before: &[Arc<StoredItem>],
    input: &[Resolved],
    account: &Account,
) -> Result<(), Refusal> {
    let before = before.iter().map(|held| held.value());
    let model_input: Vec<&Value> = before.chain(input.iter().map(Resolved::value)).collect();
    let items = model_input.iter().copied().enumerate().map(Item::read);
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let sent = input.iter().map(Resolved::value).enumerate().map(Item::read);
    state::check_encrypted_content(model, &sent.collect::<Result<Vec<_>, _>>()?)?;
    state::no_duplicate_items(&items)?;
    pairs::check(&items)?;
    state::no_lone_reasoning(&items)?;
    check_required_reasoning(&items, account)
}

/// Checks that each stored item that required reasoning comes after that reasoning.
fn check_required_reasoning(items: &[Item<'_>], account: &Account) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for item in items {
        let Some(id) = item.id() else { continue };
        let held = account.item(id);
        match held.as_ref().and_then(|held| held.required_reasoning()) {
            Some(reasoning) if !seen.contains(reasoning) => {
                return Err(Refusal::missing_reasoning(id, item.kind(), reasoning));
            }
            _ => seen.insert(id.to_owned()),
        };
    }
    Ok(())
}
