//! Equality of items, as far as a client can decide it, and the policy for the ids of reasoning.

use std::collections::HashMap;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::item::{CallId, Fingerprint, FingerprintKey, Head, Item, ItemId, Kind};

/// The id that frameworks give to items without a provider's id. It identifies nothing.
pub const PLACEHOLDER_ID: &str = "__fake_id__";

/// The `type` of the item that replaces a call while its approval is pending. It exists only in a
/// client's list and is never sent.
pub const APPROVAL_PLACEHOLDER: &str = "tool_approval_item";

/// The id that a server gave the item. A placeholder is not one.
pub fn server_id(head: &Head) -> Option<&ItemId> {
    head.id.as_ref().filter(|id| id.as_str() != PLACEHOLDER_ID)
}

/// Whether the item is the placeholder of a call that waits for approval.
pub fn is_approval_placeholder(item: &Item) -> bool {
    item.head().kind.as_str() == APPROVAL_PLACEHOLDER
}

/// Whether the two may be the same item: they have the same content, and neither their ids nor
/// their `call_id`s differ. A missing id equals any id.
pub(super) fn are_equal(one: &Item, two: &Item) -> bool {
    let ids = server_id(one.head()).zip(server_id(two.head()));
    ids.is_none_or(|(one, two)| one == two) && one.has_same_content(two)
}

/// An index of items that finds the equals of an item without comparing it with every other.
pub struct EqualItems<'a> {
    by_key: HashMap<EqualityKey, Vec<(usize, &'a Item)>>,
}

/// The properties that equal items share.
#[derive(PartialEq, Eq, Hash)]
struct EqualityKey {
    kind: Kind,
    call_id: Option<CallId>,
    fingerprint: Option<Fingerprint>,
}

/// The fingerprints are only compared, never stored, so no secret key is needed.
const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

impl<'a> EqualItems<'a> {
    /// Indexes `items`, each with its position.
    pub fn new(items: impl Iterator<Item = (usize, &'a Item)>) -> Self {
        let mut by_key: HashMap<_, Vec<_>> = HashMap::new();
        for (position, item) in items {
            by_key.entry(EqualityKey::new(item)).or_default().push((position, item));
        }
        Self { by_key }
    }

    /// The positions of the items that equal `item`, in order.
    pub fn equal_to(&self, item: &Item) -> Vec<usize> {
        let alike = self.by_key.get(&EqualityKey::new(item)).into_iter().flatten();
        alike.filter(|(_, other)| are_equal(item, other)).map(|(position, _)| *position).collect()
    }
}

impl EqualityKey {
    fn new(item: &Item) -> Self {
        Self {
            kind: item.head().kind.clone(),
            call_id: item.head().call_id.clone(),
            fingerprint: Fingerprint::from_item(KEY, item),
        }
    }
}

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
