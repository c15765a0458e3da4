//! Whether reasoning goes back under its id.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::item::{Item, Kind};

/// What becomes of the ids of reasoning in later requests and in stored history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningIds {
    /// They stay.
    #[default]
    Keep,
    /// They are taken off.
    Omit,
}

impl ReasoningIds {
    /// `item` as the policy lets it go. What the policy does not touch keeps its bytes.
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

    /// By what reasoning is known where its id was taken off; `None` where an id can tell.
    pub(super) fn trace(self, item: &Item) -> Option<u64> {
        if self == Self::Keep || item.head().kind != Kind::Reasoning {
            return None;
        }
        let mut hasher = SipHasher13::new();
        hasher.write(item.with(|object| object.remove("id")).raw());
        Some(hasher.finish())
    }
}
