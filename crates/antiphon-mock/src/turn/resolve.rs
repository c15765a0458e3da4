//! Resolves references in an input.

use std::sync::Arc;

use serde_json::Value;

use crate::Refusal;
use crate::account::{Account, StoredItem};
use crate::ids::Ids;
use crate::request::is_reference;

/// One item of an input.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// The item as the caller sent it.
    Sent(Value),
    /// The stored item that the caller referred to.
    Stored(Arc<StoredItem>),
}

impl Resolved {
    pub(crate) fn value(&self) -> &Value {
        match self {
            Self::Sent(value) => value,
            Self::Stored(held) => held.value(),
        }
    }
}

/// Replaces references by stored items of the account. A reference is an `item_reference`, or a
/// reasoning item without its content. In strict mode an unknown id is refused, otherwise left out.
pub(crate) fn resolve(
    input: &[Value],
    account: &Account,
    is_strict: bool,
) -> Result<Vec<Resolved>, Refusal> {
    let mut resolved = Vec::new();
    for item in input {
        match named(item) {
            None => resolved.push(Resolved::Sent(item.clone())),
            Some(id) => match account.item(id) {
                Some(held) => resolved.push(Resolved::Stored(held)),
                None if is_strict => return Err(Refusal::item_not_found(id)),
                None => {}
            },
        }
    }
    Ok(resolved)
}

/// Stores the items. A sent item without an id gets one.
pub(crate) fn stored(
    input: Vec<Resolved>,
    account: &Account,
    ids: &mut Ids,
) -> Vec<Arc<StoredItem>> {
    let store = |item| match item {
        Resolved::Stored(held) => held,
        Resolved::Sent(value) => {
            let known = value["id"].as_str().and_then(|id| account.item(id));
            let reasoning = known.as_ref().and_then(|held| held.required_reasoning());
            Arc::new(StoredItem::new(value, ids).with_required_reasoning(reasoning))
        }
    };
    input.into_iter().map(store).collect()
}

fn named(item: &Value) -> Option<&str> {
    let has_content = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
    let is_named = is_reference(item) || (item["type"] == "reasoning" && !has_content);
    item["id"].as_str().filter(|_| is_named)
}
