//! Plans a turn: the items that the upstream does not have, repaired so that it accepts them.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;

use antiphon::item::IdSource;
use antiphon::placeholder::is_placeholder_item;
use antiphon::repair::{Action, OnOutputWithoutCall, Policy, Repair, Repaired, repair_after};
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};
use bytes::Bytes;

use super::UpstreamTurn;
use super::attempt::Basis;
use super::blocking_items::BlockingItems;
use super::replay::Footing;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::Continues;
use crate::settings::Faults;
use crate::turn::admission::Admission;
use crate::turn::open::Opened;
use crate::turn::plan::known_reasoning;
use crate::turn::report::Report;
use crate::turn::resolve::Incoming;
use crate::upstream::Upstream;

/// A turn that is ready to send.
pub(super) struct Plan {
    /// The items that the upstream stores, followed by the new items of the input.
    pub(super) transcript: Transcript,
    /// The number of stored items at the start of `transcript`.
    pub(super) held: usize,
    /// The sent items as ledger entries.
    pub(super) fresh: Vec<HeldItem>,
    /// The items of the request.
    pub(super) sent: Vec<Item>,
    /// Whether the input refers to items that the ledger does not have. The ledger is then
    /// incomplete after this turn.
    pub(super) names_unknown: bool,
    /// The point in the upstream's state that the request continues.
    pub(super) footing: Footing,
    /// Stored items that should be deleted before the request is sent.
    pub(super) stuck: BlockingItems,
    /// The model that answers, as the origin of the output items.
    pub(super) origin: Origin,
    /// The items that were dropped or repaired.
    pub(super) report: Report,
}

impl Plan {
    /// Sets how often the upstream was asked again.
    pub(super) fn retried(mut self, times: u32) -> Self {
        self.report.retried(times);
        self
    }

    /// Whether this plan sends a different request than another plan of the same turn.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let raw = |plan: &Self| -> Vec<Bytes> {
            plan.sent.iter().map(|item| item.raw().clone()).collect()
        };
        self.footing != other.footing || self.stuck.is_deleted() || raw(self) != raw(other)
    }

    /// Whether nothing is left to send, although the upstream does not hold all of the caller's
    /// input.
    pub(super) fn is_emptied(&self) -> bool {
        self.sent.is_empty() && !self.report.is_all_resent()
    }
}

impl UpstreamTurn<'_> {
    /// Reconciles the input with the ledger and repairs the items that the upstream would reject.
    pub(super) async fn plan(&self, opened: &Opened, basis: &Basis) -> Result<Plan, ApiError> {
        let held = self.turn.load(opened.cursor).await?;
        let (mut admission, names_unknown) = self.admitted(held, basis)?;
        let footing = basis.footing.clone();
        let outlines = Outlines::of(&admission);
        let stuck = BlockingItems::in_the_way_of(&admission, &outlines);
        let (fresh, sent) = match &footing {
            Footing::Nothing => self.replayed(outlines, &mut admission),
            Footing::AsAsked => self.mended(&outlines, &mut admission, names_unknown)?,
            Footing::Around(around) => {
                let (fresh, sent) = self.mended(&outlines, &mut admission, names_unknown)?;
                (fresh, around.sent_behind(sent))
            }
        };
        let Admission { transcript, held, report, .. } = admission;
        let report = report.of_request(&self.turn.caller.request_id);
        let origin = Upstream::Http(self.http).origin(&self.turn.request.model);
        Ok(Plan { transcript, held, fresh, sent, names_unknown, footing, stuck, origin, report })
    }

    /// Adds the input to the transcript. Also returns whether it refers to items that the ledger
    /// does not have.
    fn admitted(&self, held: Transcript, basis: &Basis) -> Result<(Admission, bool), ApiError> {
        let turn = self.turn;
        let incoming: Vec<Incoming> =
            turn.request.input.iter().cloned().map(Incoming::of).collect();
        let is_objected_to =
            |item: &Item| basis.objections.reason_for(item.head().id.as_ref()).is_some();
        let names_unknown =
            incoming.iter().any(|it| is_unknown(&it.item, &held) && !is_objected_to(&it.item));
        let strict = turn.gateway.settings.faults == Faults::Reject;
        let key = turn.gateway.fingerprint_key;
        let admission = Admission::new(held, incoming, key, strict);
        let mut admission = admission.known(&basis.objections, &basis.brought).behind_upstream();
        admission.made_with.extend(basis.objections.made_with.clone());
        admission.admit_all()?;
        Ok((admission, names_unknown))
    }

    /// Repairs the new items. Returns them as ledger entries and as they are sent.
    fn mended(
        &self,
        outlines: &Outlines,
        admission: &mut Admission,
        names_unknown: bool,
    ) -> Result<(Vec<HeldItem>, Vec<Item>), ApiError> {
        let strict = !self.turn.mends();
        let repaired =
            repair_after(outlines.held, &outlines.items, &outlines.policy(names_unknown));
        if let Some(mend) = repaired.repairs.first().filter(|_| strict) {
            let position = outlines.source(mend.position, admission).unwrap_or(mend.position);
            return Err(mend.fault.refusal(position).into());
        }
        for mend in &repaired.repairs {
            let (source, item) =
                (outlines.source(mend.position, admission), &outlines.items[mend.position]);
            admission.report.mended(source, item, mend);
        }
        if repaired.items.is_empty() && self.says_nothing() {
            return Err(ApiError::MissingInput);
        }
        let stays = outlines.staying(&repaired, admission);
        let fresh = self.for_the_ledger(&repaired.items, stays.into_iter().peekable());
        Ok((fresh, repaired.items))
    }

    /// Whether a request without input would have no context either.
    fn says_nothing(&self) -> bool {
        self.turn.request.continues == Continues::Nothing && !self.turn.request.is_prompted()
    }

    /// The sent items as ledger entries. `stays` holds those of the input in order, which may
    /// include placeholder outputs.
    fn for_the_ledger<'h>(
        &self,
        sent: &[Item],
        mut stays: Peekable<impl Iterator<Item = &'h HeldItem>>,
    ) -> Vec<HeldItem> {
        let entry = |item: &Item| {
            let as_it_came = |held: &&HeldItem| held.body.bytes() == Some(item.raw());
            if is_placeholder_item(item) {
                let sent = stays.next_if(as_it_came);
                return sent.map_or_else(|| self.made_up(item), |held| self.sent_as(held, item));
            }
            let held = stays.next().expect("what is not made up is of the input");
            self.sent_as(held, item)
        };
        sent.iter().map(entry).collect()
    }

    /// The ledger entry of a placeholder output.
    pub(super) fn made_up(&self, item: &Item) -> HeldItem {
        let id = ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
        let key = self.turn.gateway.fingerprint_key;
        self.entered(HeldItem::new(id, item, key, Some(Origin::placeholder())))
    }

    /// The ledger entry of a new item, in the form in which it is sent.
    pub(super) fn sent_as(&self, held: &HeldItem, sent: &Item) -> HeldItem {
        self.entered(match held.body.bytes() == Some(sent.raw()) {
            true => held.clone(),
            false => HeldItem { head: sent.head().clone(), ..held.clone() },
        })
    }
}

/// The outlines of the stored items, followed by those of the new input.
pub(super) struct Outlines {
    pub(super) items: Vec<Item>,
    /// The number of stored items at the start of `items`.
    pub(super) held: usize,
    /// The transcript position of each stored item.
    pub(super) held_at: Vec<usize>,
    /// The transcript position of each new item.
    fresh: Vec<usize>,
    pub(super) made_with: HashMap<ItemId, ItemId>,
}

impl Outlines {
    pub(super) fn of(admission: &Admission) -> Self {
        let transcript = &admission.transcript;
        let mut held = transcript.view();
        held.retain(|at| *at < admission.held);
        held.sort_unstable();
        let fresh: Vec<usize> = (admission.held..transcript.items().len()).collect();
        let outline =
            |at: &usize| transcript.items()[*at].outline().expect("a view is of the living");
        let items = held.iter().chain(&fresh).map(outline).collect();
        let made_with = known_reasoning(transcript, admission.made_with.clone());
        Self { items, held: held.len(), held_at: held, fresh, made_with }
    }

    fn policy(&self, names_unknown: bool) -> Policy {
        let outputs_without_call = match names_unknown {
            true => OnOutputWithoutCall::Keep,
            false => OnOutputWithoutCall::Drop,
        };
        Policy { outputs_without_call, made_with: self.made_with.clone(), ..Policy::default() }
    }

    /// The item's position in the input; `None` for a stored item.
    pub(super) fn source(&self, position: usize, admission: &Admission) -> Option<usize> {
        let fresh = position.checked_sub(self.held)?;
        admission.sources.get(fresh).copied()
    }

    /// The new items that are sent, repaired or not.
    fn staying<'a>(&self, repaired: &Repaired, admission: &'a Admission) -> Vec<&'a HeldItem> {
        let left_out = |mend: &&Repair| matches!(mend.action, Action::Dropped | Action::Replaced);
        let left_out = repaired.repairs.iter().filter(left_out);
        let left_out: HashSet<usize> = left_out.map(|mend| mend.position).collect();
        let fresh = self.fresh.iter().enumerate();
        let stays = fresh.filter(|(nth, _)| !left_out.contains(&(self.held + nth)));
        stays.map(|(_, at)| &admission.transcript.items()[*at]).collect()
    }
}

/// Whether the item refers to an item that the transcript does not have.
fn is_unknown(item: &Item, held: &Transcript) -> bool {
    let head = item.head();
    let names = head.id.as_ref().filter(|_| head.kind == Kind::ItemReference);
    names.is_some_and(|id| held.position(id).is_none())
}
