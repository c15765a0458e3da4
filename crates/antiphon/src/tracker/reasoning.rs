//! The policy for the ids of reasoning.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::item::{Item, Kind};

/// The treatment of reasoning ids in later requests and in stored history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningIds {
    /// The ids stay.
    #[default]
    Keep,
    /// The ids are removed.
    Omit,
}

impl ReasoningIds {
    /// Applies the policy to `item`. An item that does not change keeps its bytes.
    #[must_use]
    pub fn apply(self, item: &Item) -> Item {
        if self.changes(item) {
            return item.with(|object| object.remove("id"));
        }
        item.clone()
    }

    pub(super) fn changes(self, item: &Item) -> bool {
        let head = item.head();
        self == Self::Omit && head.kind == Kind::Reasoning && head.id.is_some()
    }

    /// A hash that identifies reasoning without its id; `None` if ids are kept.
    pub(super) fn hash_without_id(self, item: &Item) -> Option<u64> {
        if self == Self::Keep || item.head().kind != Kind::Reasoning {
            return None;
        }
        let mut hasher = SipHasher13::new();
        hasher.write(item.with(|object| object.remove("id")).raw());
        Some(hasher.finish())
    }
}
