//! What the items of a turn have to be to each other.

use std::collections::HashSet;
use std::sync::Arc;

use antiphon_testkit::Refusal;
use antiphon_testkit::judge::{Item, pairs, state};
use serde_json::Value;

use super::resolve::Resolved;
use crate::account::{Account, Held};

/// Judges all that the model would be given: the first refusal that it deserves, or none.
pub(super) fn judge(
    model: &str,
    before: &[Arc<Held>],
    input: &[Resolved],
    account: &Account,
) -> Result<(), Refusal> {
    let before = before.iter().map(|held| held.value());
    let given: Vec<&Value> = before.chain(input.iter().map(Resolved::value)).collect();
    let items = given.iter().copied().enumerate().map(Item::read);
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let sent = input.iter().map(Resolved::value).enumerate().map(Item::read);
    state::issued_for(model, &sent.collect::<Result<Vec<_>, _>>()?)?;
    state::no_item_twice(&items)?;
    pairs::check(&items)?;
    state::no_lone_reasoning(&items)?;
    behind_its_reasoning(&items, account)
}

/// What the model made in a turn in which it reasoned comes with that reasoning before it.
fn behind_its_reasoning(items: &[Item<'_>], account: &Account) -> Result<(), Refusal> {
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
