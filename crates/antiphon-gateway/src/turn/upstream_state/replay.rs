//! Continues a chain whose response the upstream has lost, from the bodies in the ledger.

use std::collections::{HashMap, HashSet};

use antiphon::placeholder::is_placeholder_item;
use antiphon::repair::{Action, Policy, Repair, repair_after};
use antiphon::{Body, HeldItem, Item, ItemId, Kind};
use antiphon_store::{Kept, ResponseRecord};

use super::UpstreamTurn;
use super::around::Around;
use super::attempt::Basis;
use super::open::after;
use super::plan::Outlines;
use crate::error::ApiError;
use crate::request::Continues;
use crate::settings::Ledger;
use crate::turn::admission::Admission;
use crate::turn::encode::Previous;
use crate::turn::open::Opened;
use crate::upstream::{StateError, UpstreamError};
use antiphon::faults::OmissionReason;

/// The point in the upstream's state that a request continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Footing {
    /// The response or conversation in the caller's request.
    #[default]
    AsAsked,
    /// Nothing: the request contains the full content of the previous response.
    Nothing,
    /// The items around those that block the previous response.
    Around(Around),
}

impl Footing {
    /// The response that the request continues, in place of the caller's.
    pub(super) fn previous(&self) -> Previous<'_> {
        match self {
            Self::AsAsked => Previous::AsAsked,
            Self::Nothing => Previous::Other(None),
            Self::Around(around) => Previous::Other(around.previous.as_deref()),
        }
    }
}

impl UpstreamTurn<'_> {
    /// Opens the turn. If the upstream has lost the previous response, opens it on the ledger's
    /// copy.
    pub(super) async fn open_somehow(&self) -> Result<(Opened, Basis), ApiError> {
        let lost = match self.open().await {
            Ok(opened) => return Ok((opened, Basis::default())),
            Err(error) => error,
        };
        match self.record_of_lost(&lost).await? {
            Some(record) => {
                let (shard, cursor) = (record.cursor.shard, record.cursor);
                let opened = self.turn.opened(shard, Some(cursor), after(&record), None).await?;
                let basis = Basis { footing: Footing::Nothing, ..Basis::default() };
                match self.replays(&opened).await? {
                    true => Ok((opened, basis)),
                    false => Err(lost),
                }
            }
            None => Err(lost),
        }
    }

    /// The ledger's record of the previous response, if this error reports that the response is
    /// lost. A stale record counts as well, because there is no other copy.
    async fn record_of_lost(&self, error: &ApiError) -> Result<Option<ResponseRecord>, ApiError> {
        let Continues::Response(id) = &self.turn.request.continues else { return Ok(None) };
        if !says_lost(error) {
            return Ok(None);
        }
        let entry = self.ledgers().entry(&self.turn.caller.tenant, id).await?;
        match entry.map(|entry| entry.kept) {
            Some(Kept::Response(local)) => self.turn.response(&local).await,
            _ => Ok(None),
        }
    }

    /// Whether the ledger has the full context of the turn, so that it can be sent again.
    pub(super) async fn replays(&self, opened: &Opened) -> Result<bool, ApiError> {
        let is_chain = matches!(self.turn.request.continues, Continues::Response(_));
        if !is_chain || self.turn.gateway.settings.ledger != Ledger::Bodies {
            return Ok(false);
        }
        let held = self.turn.load(opened.cursor).await?;
        Ok(held.items().iter().all(|item| item.body != Body::StoredElsewhere))
    }

    /// Repairs the full content of the ledger and the new input. Returns the items that are new to
    /// the ledger, and all items as they are sent.
    pub(super) fn replayed(
        &self,
        outlines: Outlines,
        admission: &mut Admission,
    ) -> (Vec<HeldItem>, Vec<Item>) {
        let Whole { items, made_with } = Whole::of(outlines, admission);
        let list: Vec<Item> = items.iter().map(|(_, item)| item.clone()).collect();
        let policy = Policy { made_with, ..Policy::default() };
        let repaired = repair_after(0, &list, &policy);
        for mend in &repaired.repairs {
            let (at, item) = &items[mend.position];
            let fresh = at.checked_sub(admission.held);
            let source = fresh.and_then(|fresh| admission.sources.get(fresh).copied());
            admission.report.mended(source, item, mend);
        }
        let goes = |mend: &&Repair| matches!(mend.action, Action::Dropped | Action::Replaced);
        let left_out = repaired.repairs.iter().filter(goes).map(|mend| mend.position);
        let left_out: HashSet<usize> = left_out.collect();
        let staying = items.iter().enumerate().filter(|(nth, _)| !left_out.contains(nth));
        let staying = staying.map(|(_, placed)| placed);
        let fresh = self.new_to_the_ledger(&repaired.items, staying, admission);
        (fresh, repaired.items)
    }

    /// The sent items that the ledger does not have: new input and placeholder outputs.
    fn new_to_the_ledger<'s>(
        &self,
        sent: &[Item],
        staying: impl Iterator<Item = &'s (usize, Item)>,
        admission: &Admission,
    ) -> Vec<HeldItem> {
        let mut staying = staying.peekable();
        let entered = sent.iter().filter_map(|item| {
            let is_next = |(_, next): &&(usize, Item)| next.raw() == item.raw();
            if is_placeholder_item(item) && !staying.peek().is_some_and(is_next) {
                return Some(self.made_up(item));
            }
            let (at, _) = staying.next().expect("what is not made up is of the list");
            let is_fresh = *at >= admission.held;
            is_fresh.then(|| self.sent_as(&admission.transcript.items()[*at], item))
        });
        entered.collect()
    }
}

/// The full content of a chain, followed by the new input.
struct Whole {
    /// Each item, with its position in the transcript.
    items: Vec<(usize, Item)>,
    made_with: HashMap<ItemId, ItemId>,
}

impl Whole {
    /// Collects the items. The upstream deletes stored items together with their response, so a
    /// reasoning item without encrypted content is lost and left out. Items that need it are later
    /// sent without their ids.
    fn of(outlines: Outlines, admission: &mut Admission) -> Self {
        let Outlines { items, held, held_at, made_with, .. } = outlines;
        let fresh = admission.held..admission.transcript.items().len();
        let places = held_at.into_iter().chain(fresh);
        let is_lost = |item: &Item| item.head().kind == Kind::Reasoning && !item.head().encrypted;
        let mut whole: Vec<(usize, Item)> = places.zip(items).collect();
        let lost = whole[..held].iter().filter(|(_, item)| is_lost(item));
        let count = lost.clone().count();
        for (_, item) in lost {
            admission.report.left_out_of_view(None, item, OmissionReason::BareReasoning);
        }
        let first_fresh = admission.held;
        whole.retain(|(at, item)| *at >= first_fresh || !is_lost(item));
        admission.report.replayed(held - count);
        Self { items: whole, made_with }
    }
}

/// Whether the error reports that the previous response does not exist.
fn says_lost(error: &ApiError) -> bool {
    match error {
        ApiError::Upstream(refused) => {
            let fault = UpstreamError::Refused(refused.clone()).state_error();
            fault == Some(StateError::UnknownResponse)
        }
        error => error.code() == "previous_response_not_found",
    }
}
