//! A repaired list.

use antiphon::Item;
use antiphon::repair::RepairedInput;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Finding;

/// The items that a provider accepts, and the repairs.
#[derive(Debug, Serialize)]
pub struct RepairedItems {
    /// The items, in order.
    pub items: Vec<RepairedItem>,
    /// The repairs. The packages name this field `mends`.
    #[serde(rename = "mends")]
    pub repairs: Vec<Finding>,
}

/// An item of a repaired list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum RepairedItem {
    /// The unchanged item at this position of the input.
    Unchanged(usize),
    /// A changed or inserted item.
    Changed(Box<RawValue>),
}

impl RepairedItems {
    pub(crate) fn from_continuation(continuation: RepairedInput) -> Self {
        let RepairedInput { items, sources, findings } = continuation;
        let place = |(item, source): (&Item, Option<usize>)| {
            source.map_or_else(|| RepairedItem::Changed(raw(item)), RepairedItem::Unchanged)
        };
        Self {
            items: items.iter().zip(sources).map(place).collect(),
            repairs: findings.iter().map(Finding::from_repair).collect(),
        }
    }
}

/// The item's JSON, to be embedded in another JSON text.
pub(crate) fn raw(item: &Item) -> Box<RawValue> {
    RawValue::from_string(item.text().to_owned()).expect("an item was parsed as JSON")
}
