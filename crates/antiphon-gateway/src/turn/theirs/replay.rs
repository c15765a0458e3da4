//! A chain whose response its upstream no longer has, and the ledger has in full.

use std::collections::{HashMap, HashSet};

use antiphon::made_up::is_made_up;
use antiphon::repair::{Action, Mend, Policy, repair_behind};
use antiphon::{Body, HeldItem, Item, ItemId, Kind};
use antiphon_store::{Kept, ResponseRecord};

use super::Theirs;
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
use antiphon::faults::LeftOut;

/// What a request stands on at its upstream.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Footing {
    /// What the caller named.
    #[default]
    AsAsked,
    /// Nothing: it says all that the response that the caller named stood for.
    Nothing,
    /// What stands around that response.
    Around(Around),
}

impl Footing {
    /// The response that the request goes on from, in the place of the one that the caller named.
    pub(super) fn previous(&self) -> Previous<'_> {
        match self {
            Self::AsAsked => Previous::AsAsked,
            Self::Nothing => Previous::Other(None),
            Self::Around(around) => Previous::Other(around.previous.as_deref()),
        }
    }
}

impl Theirs<'_> {
    /// Opens the turn; where the response that it goes on from is lost at the upstream, behind what the
    /// ledger has of it.
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

    /// What the ledger has of the response that the request goes on from, if this error says that it is
    /// lost. The ledger may be in doubt: it is all that there is.
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

    /// Whether the ledger has all that the turn goes on from, so that it can be sent in full.
    pub(super) async fn replays(&self, opened: &Opened) -> Result<bool, ApiError> {
        let is_chain = matches!(self.turn.request.continues, Continues::Response(_));
        if !is_chain || self.turn.gateway.settings.ledger != Ledger::Bodies {
            return Ok(false);
        }
        let held = self.turn.load(opened.cursor).await?;
        Ok(held.items().iter().all(|item| item.body != Body::Elsewhere))
    }

    /// What is sent where nothing is held any more: all of the ledger and the fresh input behind it,
    /// mended; and what of it is new to the ledger.
    pub(super) fn replayed(
        &self,
        outlines: Outlines,
        admission: &mut Admission,
    ) -> (Vec<HeldItem>, Vec<Item>) {
        let Whole { items, made_with } = Whole::of(outlines, admission);
        let list: Vec<Item> = items.iter().map(|(_, item)| item.clone()).collect();
        let policy = Policy { made_with, ..Policy::default() };
        let repaired = repair_behind(0, &list, &policy);
        for mend in &repaired.mends {
            let (at, item) = &items[mend.position];
            let fresh = at.checked_sub(admission.held);
            let source = fresh.and_then(|fresh| admission.sources.get(fresh).copied());
            admission.report.mended(source, item, mend);
        }
        let goes = |mend: &&Mend| matches!(mend.action, Action::Dropped | Action::Replaced);
        let left_out = repaired.mends.iter().filter(goes).map(|mend| mend.position);
        let left_out: HashSet<usize> = left_out.collect();
        let staying = items.iter().enumerate().filter(|(nth, _)| !left_out.contains(nth));
        let staying = staying.map(|(_, placed)| placed);
        let fresh = self.new_to_the_ledger(&repaired.items, staying, admission);
        (fresh, repaired.items)
    }

    /// Of what is sent in full, what the ledger does not have: fresh input, and made-up outputs.
    fn new_to_the_ledger<'s>(
        &self,
        sent: &[Item],
        staying: impl Iterator<Item = &'s (usize, Item)>,
        admission: &Admission,
    ) -> Vec<HeldItem> {
        let mut staying = staying.peekable();
        let entered = sent.iter().filter_map(|item| {
            let is_next = |(_, next): &&(usize, Item)| next.raw() == item.raw();
            if is_made_up(item) && !staying.peek().is_some_and(is_next) {
                return Some(self.made_up(item));
            }
            let (at, _) = staying.next().expect("what is not made up is of the list");
            let is_fresh = *at >= admission.held;
            is_fresh.then(|| self.sent_as(&admission.transcript.items()[*at], item))
        });
        entered.collect()
    }
}

/// All that a chain consists of, and the input behind it.
struct Whole {
    /// Each item, and where it is in the transcript.
    items: Vec<(usize, Item)>,
    made_with: HashMap<ItemId, ItemId>,
}

impl Whole {
    /// Stored items go with the response that they were stored with. Reasoning of which there is no
    /// more than an id is left out, therefore; what was made with it will go without its id.
    fn of(outlines: Outlines, admission: &mut Admission) -> Self {
        let Outlines { items, held, held_at, made_with, .. } = outlines;
        let fresh = admission.held..admission.transcript.items().len();
        let places = held_at.into_iter().chain(fresh);
        let is_lost = |item: &Item| item.head().kind == Kind::Reasoning && !item.head().encrypted;
        let mut whole: Vec<(usize, Item)> = places.zip(items).collect();
        let lost = whole[..held].iter().filter(|(_, item)| is_lost(item));
        let count = lost.clone().count();
        for (_, item) in lost {
            admission.report.left_out_of_view(None, item, LeftOut::BareReasoning);
        }
        let first_fresh = admission.held;
        whole.retain(|(at, item)| *at >= first_fresh || !is_lost(item));
        admission.report.replayed(held - count);
        Self { items: whole, made_with }
    }
}

/// Whether it says that there is no such response to go on from.
fn says_lost(error: &ApiError) -> bool {
    match error {
        ApiError::Ours(error) => error.code == Some("previous_response_not_found"),
        ApiError::Upstream(refused) => {
            let told = UpstreamError::Refused(refused.clone()).state_error();
            told == Some(StateError::UnknownResponse)
        }
    }
}
