//! Replaces references and replayed items with the tenant's stored items.

use std::collections::HashMap;

use antiphon::faults::Fault;
use antiphon::reconcile::adopt_call_ids;
use antiphon::{HeldItem, Item, ItemId, Kind, Transcript};
use antiphon_store::{Store, StoreError, Tenant};

use super::context::Turn;
use crate::compaction::check_compactions;
use crate::error::ApiError;
use crate::request::is_bare_reasoning;

/// How many items one lookup covers.
const BATCH: usize = 500;

/// An incoming item, and facts about the item with its id in another transcript.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    pub(crate) item: Item,
    pub(crate) origin: Option<antiphon::Origin>,
    /// The tombstone of an item that was deleted under this id, if no live copy exists.
    pub(crate) tombstone: Option<HeldItem>,
}

impl Incoming {
    /// An item without a stored copy.
    pub(super) fn new(item: Item) -> Self {
        Self { item, origin: None, tombstone: None }
    }
}

/// Resolves the input of a turn that continues the transcript `held`.
pub(super) async fn resolve_input(
    turn: &Turn<'_>,
    held: &Transcript,
) -> Result<Vec<Incoming>, ApiError> {
    let Turn { gateway, caller, request, .. } = turn;
    check_compactions(&request.input, "input", &gateway.compaction_key, &caller.tenant)?;
    let (derived, key) = (&request.derived_call_ids, gateway.fingerprint_key);
    let input = adopt_call_ids(held, request.input.clone(), derived, key);
    resolve(&*gateway.store, &caller.tenant, Some(held), input).await
}

/// Replaces references, and replayed items that a model created, with their stored bytes. This
/// restores content that a client stripped. Items of `held` stay unchanged, because reconciliation
/// recognizes them. A reference to an unknown item fails with the provider's error.
pub(crate) async fn resolve(
    store: &dyn Store,
    tenant: &Tenant,
    held: Option<&Transcript>,
    input: Vec<Item>,
) -> Result<Vec<Incoming>, ApiError> {
    let is_here = |id: &ItemId| held.is_some_and(|held| held.position(id).is_some());
    let named = input.iter().filter_map(|item| item.head().id.as_ref());
    let wanted: Vec<ItemId> = named.filter(|id| !is_here(id)).cloned().collect();
    let copies = find_copies(store, tenant, &wanted).await?;
    let resolved = input.into_iter().enumerate().map(|(position, item)| {
        let id = item.head().id.as_ref();
        let copy = id.and_then(|id| copies.get(id));
        let is_reference = item.head().kind == Kind::ItemReference;
        let is_live = copy.is_some_and(|copy| !copy.is_tombstone());
        if let (Some(copy), false) = (copy.filter(|_| is_live), is_made_by_caller(&item)) {
            return Ok(restore(&item, copy));
        }
        if let Some(id) = id.filter(|id| is_reference && !is_here(id)) {
            return Err(Fault::UnresolvedReference { id: id.clone() }.refusal(position).into());
        }
        let tombstone = copy.filter(|_| !is_live).cloned();
        Ok(Incoming { tombstone, ..Incoming::new(item) })
    });
    resolved.collect()
}

/// Whether the caller created the item. Its content then counts, and not that of a stored copy.
fn is_made_by_caller(item: &Item) -> bool {
    item.head().kind != Kind::ItemReference && !item.head().is_model_made()
}

/// Looks up these items in all transcripts: a live copy of each or, failing that, a tombstone.
pub(super) async fn find_copies(
    store: &dyn Store,
    tenant: &Tenant,
    ids: &[ItemId],
) -> Result<HashMap<ItemId, HeldItem>, StoreError> {
    let mut copies = HashMap::new();
    for batch in ids.chunks(BATCH) {
        let found = store.locate(tenant, batch).await?;
        copies.extend(found.into_iter().map(|copy| (copy.id.clone(), copy)));
    }
    Ok(copies)
}

/// Returns the stored copy, under the id of the store, if it is the same item, and otherwise the
/// item itself. An equal id alone proves nothing, because some servers reuse the same ids in every
/// response.
fn restore(item: &Item, copy: &HeldItem) -> Incoming {
    let Some(held) = copy.item().filter(|held| is_same(item, held)) else {
        return Incoming::new(item.clone());
    };
    let held = match held.head().id {
        Some(_) => held,
        None => held.with(|object| object.set_string("id", copy.id.as_str())),
    };
    // A compaction replaces items of the thread in which it was created. In this thread it has no
    // such items, so it does not keep its origin.
    let origin = copy.origin.clone().filter(|_| held.head().kind != Kind::Compaction);
    Incoming { origin, ..Incoming::new(held) }
}

/// Whether the item is a reference to the stored one, or the stored one with less content.
fn is_same(item: &Item, held: &Item) -> bool {
    let (head, full) = (item.head(), held.head());
    let brings_more = head.encrypted && !full.encrypted;
    let is_it = head.call_id == full.call_id && item.has_same_content(held);
    let is_its_id = head.kind == full.kind && is_bare_reasoning(item) && has_no_summary(item);
    head.kind == Kind::ItemReference || !brings_more && (is_it || is_its_id)
}

fn has_no_summary(item: &Item) -> bool {
    item.object().present("summary").is_none_or(|summary| summary == "[]")
}
