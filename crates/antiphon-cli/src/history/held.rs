//! What the server holds before a history.

use std::collections::HashSet;
use std::path::Path;

use antiphon::item::FingerprintKey;
use antiphon::repair::Held;
use antiphon::{HeldItem, Item, ItemId, Kind, Transcript};

use super::document::Document;
use super::input;
use crate::failure::Failure;

/// Messages are compared within one run of the command, so that the key need not be a secret.
const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// What `path` says that the server holds.
pub(super) fn read(path: Option<&Path>) -> Result<Option<Transcript>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let document = input::read(path)?;
    Ok(Some(document.items.iter().enumerate().map(held_item).collect()))
}

/// What is held before the history: what was said to be, or, where the history says itself that
/// something is, what nobody can tell. `None` where it stands for itself.
pub(super) fn before<'a>(
    history: &Document,
    transcript: Option<&'a Transcript>,
) -> Option<Held<'a>> {
    match transcript {
        Some(transcript) => Some(Held::Items(transcript, KEY)),
        None if history.marker.is_some() => Some(Held::Unknown),
        None => refers_beyond_itself(history).then_some(Held::Referenced),
    }
}

/// Whether the history names items that it does not hold: calls may be among them.
fn refers_beyond_itself(history: &Document) -> bool {
    let (references, items): (Vec<&Item>, Vec<&Item>) =
        history.items.iter().partition(|item| is_reference(item));
    let held: HashSet<_> = items.iter().filter_map(|item| item.head().id.as_ref()).collect();
    references.iter().filter_map(|item| item.head().id.as_ref()).any(|id| !held.contains(id))
}

fn is_reference(item: &Item) -> bool {
    item.head().kind == Kind::ItemReference
}

fn held_item((position, item): (usize, &Item)) -> HeldItem {
    let own = item.head().id.clone();
    // No id of an item begins like this.
    let id = own.unwrap_or_else(|| ItemId::from(format!("#{position}")));
    HeldItem::new(id, item, KEY, None)
}
