//! A repaired list.

use antiphon::Item;
use antiphon::repair::Continuation;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Finding;

/// The items that a provider accepts, and the repairs.
#[derive(Debug, Serialize)]
pub struct Mended {
    /// The items, in order.
    pub items: Vec<Place>,
    /// The repairs.
    pub mends: Vec<Finding>,
}

/// An item of a repaired list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// The unchanged item at this position of the input.
    Given(usize),
    /// A changed or inserted item.
    Other(Box<RawValue>),
}

impl Mended {
    pub(crate) fn from_continuation(continuation: Continuation) -> Self {
        let Continuation { items, sources, findings } = continuation;
        let place = |(item, source): (&Item, Option<usize>)| {
            source.map_or_else(|| Place::Other(raw(item)), Place::Given)
        };
        Self {
            items: items.iter().zip(sources).map(place).collect(),
            mends: findings.iter().map(Finding::of_mend).collect(),
        }
    }
}

/// The item's JSON, to be embedded in another JSON text.
pub(crate) fn raw(item: &Item) -> Box<RawValue> {
    RawValue::from_string(item.text().to_owned()).expect("an item was parsed as JSON")
}
