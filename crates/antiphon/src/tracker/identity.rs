//! When two items are one, as far as a client can tell.

use std::collections::HashMap;

use crate::item::{CallId, Fingerprint, FingerprintKey, Head, Item, ItemId, Kind};

/// The id that frameworks put on items whose provider gives none. It names nothing.
pub const PLACEHOLDER_ID: &str = "__fake_id__";

/// The `type` of the item that stands for a call while its approval is awaited. It lives in a
/// client's list only and is never sent.
pub const APPROVAL_PLACEHOLDER: &str = "tool_approval_item";

/// The id that a server gave the item. A placeholder is none.
pub(crate) fn server_id(head: &Head) -> Option<&ItemId> {
    head.id.as_ref().filter(|id| id.as_str() != PLACEHOLDER_ID)
}

/// Whether the item only stands for a call that waits for approval.
pub(crate) fn is_approval_placeholder(item: &Item) -> bool {
    item.head().kind.as_str() == APPROVAL_PLACEHOLDER
}

/// Whether the two may be one item: they say the same, and neither their ids nor their `call_id`s
/// tell them apart. A missing id tells nothing.
fn are_equal(one: &Item, two: &Item) -> bool {
    let ids = server_id(one.head()).zip(server_id(two.head()));
    ids.is_none_or(|(one, two)| one == two) && one.says_the_same_as(two)
}

/// A list in which the equals of an item are found without comparing it with every other.
pub(crate) struct Lookalikes<'a> {
    by_likeness: HashMap<Likeness, Vec<(usize, &'a Item)>>,
}

/// What equal items have in common at least.
#[derive(PartialEq, Eq, Hash)]
struct Likeness {
    kind: Kind,
    call_id: Option<CallId>,
    fingerprint: Option<Fingerprint>,
}

/// Fingerprints are compared and not kept, so no key need hide them.
const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

impl<'a> Lookalikes<'a> {
    /// `items`, each with the position by which it is told.
    pub(crate) fn of(items: impl Iterator<Item = (usize, &'a Item)>) -> Self {
        let mut by_likeness: HashMap<_, Vec<_>> = HashMap::new();
        for (position, item) in items {
            by_likeness.entry(Likeness::of(item)).or_default().push((position, item));
        }
        Self { by_likeness }
    }

    /// The positions of the items that equal `item`, in order.
    pub(crate) fn equal_to(&self, item: &Item) -> Vec<usize> {
        let alike = self.by_likeness.get(&Likeness::of(item)).into_iter().flatten();
        alike.filter(|(_, other)| are_equal(item, other)).map(|(position, _)| *position).collect()
    }
}

impl Likeness {
    fn of(item: &Item) -> Self {
        Self {
            kind: item.head().kind.clone(),
            call_id: item.head().call_id.clone(),
            fingerprint: Fingerprint::of(KEY, item),
        }
    }
}
