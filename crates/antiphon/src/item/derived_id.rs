//! Ids for items that need one and come without it.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::{IdNeed, Item, ItemId, Kind, push_hex};

impl Item {
    /// Whether the API requires an id that the item lacks.
    pub(crate) fn lacks_id(&self) -> bool {
        self.head().id.is_none() && self.needs_id()
    }

    /// Whether the item lacks the id by which alone it can be recognized: it is no half of a pair.
    /// Without its id nothing is left of a reference or of bare reasoning.
    pub(crate) fn lacks_own_id(&self) -> bool {
        self.lacks_id() && !self.is_only_an_id() && self.head().pairing().is_none()
    }

    /// Whether the item is useless without an id that the server knows: no new id helps it.
    pub(crate) fn is_only_an_id(&self) -> bool {
        matches!(self.head().kind, Kind::Reasoning | Kind::ItemReference) && self.needs_id()
    }

    /// Whether the item has an `id` that is the empty string.
    pub(crate) fn has_empty_id(&self) -> bool {
        static EMPTY: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(br#""""#));
        let may_have = || EMPTY.find(self.raw()).is_some();
        self.head().id.is_none() && may_have() && self.object().get("id") == Some(r#""""#)
    }

    /// Whether the API requires an id for the item.
    pub(crate) fn needs_id(&self) -> bool {
        match self.head().kind.id_need() {
            IdNeed::Optional => false,
            IdNeed::Required => true,
            IdNeed::WithoutContent => !self.head().encrypted && !self.has_content(),
        }
    }

    fn has_content(&self) -> bool {
        self.object().present("content").is_some_and(|content| content != "[]")
    }
}

/// Derives ids for the items of one list from their bytes, so that the same list always gets the
/// same ids. Equal items get different ids.
#[derive(Debug, Default)]
pub(crate) struct DerivedIds {
    /// The number of uses of each item's first id.
    uses: HashMap<ItemId, u64>,
}

impl DerivedIds {
    /// The id of the next item, which no other item has.
    pub(crate) fn next(&mut self, item: &Item, is_taken: impl Fn(&ItemId) -> bool) -> ItemId {
        let uses = self.uses.entry(derive_id(&item.head().kind, item.raw(), 1)).or_default();
        loop {
            *uses += 1;
            let id = derive_id(&item.head().kind, item.raw(), *uses);
            if !is_taken(&id) {
                return id;
            }
        }
    }
}

/// Derives the id of an item of this kind from `source`. It depends only on the arguments, so that
/// the same history always results in the same bytes.
pub(crate) fn derive_id(kind: &Kind, source: &[u8], nth_use: u64) -> ItemId {
    let mut hasher = SipHasher13::new();
    hasher.write(source);
    hasher.write_u64(nth_use);
    let mut derived = format!("{}_", kind.id_prefix());
    push_hex(&mut derived, &hasher.finish128().as_bytes());
    ItemId::from(derived)
}
