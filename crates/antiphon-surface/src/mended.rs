//! A list that was mended.

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
