//! The entries of the index of item ids.

use antiphon::{Body, HeldItem, ItemId};

/// The item is no tombstone.
pub(crate) const LIVE: i64 = 1;
/// Its bytes are in this store.
const STORED: i64 = 1 << 1;
/// A model generated it.
const GENERATED: i64 = 1 << 2;

/// The column `id` of an item id: its first part, up to an underscore, is moved to its end. So ids
/// of one time are neighbours, whatever the kinds of their items.
pub(crate) fn id_column(id: &ItemId) -> String {
    match id.as_str().split_once('_') {
        Some((prefix, rest)) => format!("{rest}_{prefix}"),
        None => id.to_string(),
    }
}

/// The column `flags` of an item.
pub(crate) fn flags(item: &HeldItem) -> i64 {
    let body = match &item.body {
        Body::Stored(bytes) if bytes.is_empty() => LIVE,
        Body::Stored(_) => LIVE | STORED,
        Body::StoredElsewhere => LIVE,
        Body::Erased => 0,
    };
    body | if item.origin.is_some() { GENERATED } else { 0 }
}
