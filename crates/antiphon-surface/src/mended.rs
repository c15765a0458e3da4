//! A list that was mended.

use antiphon::Item;
use antiphon::repair::Continuation;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Finding;

/// The items that a provider accepts, and what was done.
#[derive(Debug, Serialize)]
pub struct Mended {
    /// In order.
    pub items: Vec<Place>,
    /// What was mended.
    pub mends: Vec<Finding>,
}

/// An item of a mended list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// The item that was given at this position, as it is.
    Given(usize),
    /// An item that was changed or made.
    Other(Box<RawValue>),
}

impl Mended {
    pub(crate) fn of(continuation: Continuation) -> Self {
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

/// The item as it stands in another JSON text.
pub(crate) fn raw(item: &Item) -> Box<RawValue> {
    RawValue::from_string(item.text().to_owned()).expect("an item was parsed as JSON")
}
