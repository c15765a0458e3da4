//! What the items of an input stand for.

use std::sync::Arc;

use antiphon_testkit::Refusal;
use serde_json::Value;

use crate::account::{Account, Held};
use crate::ids::Ids;
use crate::request::is_reference;

/// One item of an input.
#[derive(Debug)]
pub(crate) enum Resolved {
    /// As it was sent.
    Sent(Value),
    /// As it is stored, for what was sent only named it.
    Stored(Arc<Held>),
}

impl Resolved {
    pub(crate) fn value(&self) -> &Value {
        match self {
            Self::Sent(value) => value,
            Self::Stored(held) => held.value(),
        }
    }
}

/// Finds what is only named: an `item_reference`, and reasoning without its content, in whichever
/// conversation or response of the account. What is not stored is refused, or left out where rules
/// are not held.
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

/// The items as they are stored: what was sent gets an id if it has none.
pub(crate) fn stored(input: Vec<Resolved>, account: &Account, ids: &mut Ids) -> Vec<Arc<Held>> {
    let store = |item| match item {
        Resolved::Stored(held) => held,
        Resolved::Sent(value) => {
            let known = value["id"].as_str().and_then(|id| account.item(id));
            let reasoning = known.as_ref().and_then(|held| held.required_reasoning());
            Arc::new(Held::new(value, ids).made_after(reasoning))
        }
    };
    input.into_iter().map(store).collect()
}

fn named(item: &Value) -> Option<&str> {
    let has_content = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
    let is_named = is_reference(item) || (item["type"] == "reasoning" && !has_content);
    item["id"].as_str().filter(|_| is_named)
}
