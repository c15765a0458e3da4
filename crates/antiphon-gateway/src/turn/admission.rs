//! Admits incoming items to the transcript.

use std::collections::HashMap;

use antiphon::faults::Fault;
use antiphon::item::{FingerprintKey, IdSource, Side};
use antiphon::placeholder::{LateOutput, late_output_message};
use antiphon::reconcile::{Rule, Verdict, reconcile};
use antiphon::repair::made_with;
use antiphon::{Fingerprint, HeldItem, Item, ItemId, Kind, Origin, Transcript};

use super::prior_attempt::PriorInput;
use super::report::Report;
use super::resolve::Incoming;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::is_bare_reasoning;
use antiphon::faults::OmissionReason;
use antiphon::provider_api::RefusedItems;

/// Other places that may hold items besides the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// None.
    None,
    /// The upstream. It may hold any item that has an id.
    Upstream,
    /// The upstream. The input refers to items there, and these may be calls.
    UpstreamReferredTo,
}

/// Admits incoming items to the transcript, one by one.
pub(super) struct Admission {
    pub(super) transcript: Transcript,
    /// The number of items in the transcript before the input.
    pub(super) held: usize,
    incoming: Vec<Incoming>,
    verdicts: Vec<Verdict>,
    /// The position in the input of each admitted item.
    pub(super) sources: Vec<usize>,
    /// The position of the last message in the input.
    last_message: Option<usize>,
    key: FingerprintKey,
    strict: bool,
    others: Others,
    /// The input items that the upstream rejected.
    objections: RefusedItems,
    /// For each input position that an earlier attempt at the request stored: its transcript
    /// position.
    brought: HashMap<usize, usize>,
    /// Late outputs: the position in the input, and the transcript position of the placeholder.
    pub(super) late: Vec<(usize, usize)>,
    pub(super) report: Report,
    /// For each incoming item that needs a reasoning item: the id of that reasoning item, whether
    /// or not it is admitted.
    pub(super) made_with: HashMap<ItemId, ItemId>,
}

impl Admission {
    pub(super) fn new(
        transcript: Transcript,
        incoming: Vec<Incoming>,
        key: FingerprintKey,
        strict: bool,
    ) -> Self {
        let items: Vec<Item> = incoming.iter().map(|incoming| incoming.item.clone()).collect();
        Self {
            verdicts: reconcile(&transcript, &items, key),
            held: transcript.items().len(),
            sources: Vec::with_capacity(items.len()),
            last_message: items.iter().rposition(|item| item.head().kind == Kind::Message),
            report: Report::new(items.len()),
            made_with: made_with(items.iter().map(|item| (item.head(), item.head().id.as_ref()))),
            transcript,
            incoming,
            key,
            strict,
            others: Others::None,
            objections: RefusedItems::default(),
            brought: HashMap::new(),
            late: Vec::new(),
        }
    }

    /// Admits a request whose earlier attempt left its input in the transcript. That input is
    /// judged by the items before it, as it was then, and none of it is stored again.
    pub(super) fn again(
        transcript: Transcript,
        incoming: Vec<Incoming>,
        prior: &PriorInput,
        key: FingerprintKey,
        strict: bool,
    ) -> Self {
        let before = transcript.items()[..prior.positions.start].iter().cloned().collect();
        let items: Vec<Item> = incoming.iter().map(|incoming| incoming.item.clone()).collect();
        let verdicts = reconcile(&before, &items, key);
        let mut stored = prior.positions.clone();
        let mut brought = HashMap::new();
        for (position, item) in items.iter().enumerate().filter(|(at, _)| verdicts[*at].is_fresh())
        {
            let mut rest = stored.clone();
            if let Some(at) = rest.find(|at| is_stored_as(&transcript.items()[*at], item, key)) {
                brought.insert(position, at);
                stored = rest;
            }
        }
        Self { verdicts, brought, ..Self::new(transcript, incoming, key, strict) }
    }

    /// Adds items that the upstream rejected, and items that an earlier attempt at the request
    /// stored: position in the input, position in the transcript.
    pub(super) fn known(mut self, objections: &RefusedItems, brought: &[(usize, usize)]) -> Self {
        self.objections = objections.clone();
        self.brought = brought.iter().copied().collect();
        self
    }

    /// Admits to a ledger. The upstream may hold items that the ledger does not have.
    pub(super) fn behind_upstream(mut self) -> Self {
        let mut items = self.incoming.iter().map(|incoming| incoming.item.head());
        let is_unknown = |id: &ItemId| {
            self.transcript.position(id).is_none() && self.objections.reason_for(Some(id)).is_none()
        };
        let refers = items.any(|head| {
            head.kind == Kind::ItemReference && head.id.as_ref().is_some_and(is_unknown)
        });
        self.others = if refers { Others::UpstreamReferredTo } else { Others::Upstream };
        self
    }

    pub(super) fn admit_all(&mut self) -> Result<(), ApiError> {
        for position in 0..self.incoming.len() {
            self.admit(position)?;
        }
        Ok(())
    }

    fn admit(&mut self, position: usize) -> Result<(), ApiError> {
        let item = self.incoming[position].item.clone();
        let verdict = self.verdicts[position];
        if self.strict {
            refuse_repetition(position, &item, verdict)?;
        }
        if verdict.is_fresh() && self.is_known(position, &item) {
            return Ok(());
        }
        match verdict {
            Verdict::Resent(resent) => {
                let held = self.transcript.items()[resent.held].id.clone();
                self.report.resent(position, &item, &held, resent);
            }
            Verdict::Deleted => self.report.left_out(position, &item, OmissionReason::Deleted),
            Verdict::Duplicate(_) => {
                self.report.left_out(position, &item, OmissionReason::Repeated);
            }
            _ if self.was_deleted_elsewhere(position, &item) => {
                self.report.left_out(position, &item, OmissionReason::Deleted);
            }
            Verdict::LateOutput { placeholder } => self.tell_late(position, &item, placeholder),
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Replaces => {
                if self.means_something(position, &item)? && self.has_its_call(position, &item)? {
                    self.keep(position, item, verdict);
                }
            }
        }
        Ok(())
    }

    /// Whether the item is already decided by facts outside the transcript: the upstream rejects
    /// it, or an earlier attempt at the request stored it.
    fn is_known(&mut self, position: usize, item: &Item) -> bool {
        if let Some(why) = self.objections.reason_for(item.head().id.as_ref()) {
            self.report.left_out(position, item, why);
            return true;
        }
        if let Some(held) = self.brought.get(&position) {
            let held = &self.transcript.items()[*held];
            match held.is_tombstone() {
                true => self.report.left_out(position, item, OmissionReason::Deleted),
                false => self.report.brought(position, item, &held.id),
            }
            return true;
        }
        false
    }

    /// Admits a message with the text of a late output, because a placeholder already answers its
    /// call.
    fn tell_late(&mut self, position: usize, item: &Item, placeholder: usize) {
        let message = late_output_message(item).expect("a late output is an output");
        self.late.push((position, placeholder));
        self.report.late_output(position, item, LateOutput::CarriedByMessage);
        let id = ItemId::from(RandomIds.issue(message.head().kind.id_prefix()));
        let kept = HeldItem::new(id, &message, self.key, Some(Origin::placeholder()));
        self.sources.push(position);
        self.transcript.push(kept);
    }

    /// Whether the item was deleted under its id in another transcript. Replaying a deleted item
    /// must not bring it back to a model. For a message, the content has to match too, because some
    /// servers reuse the same ids in every response.
    fn was_deleted_elsewhere(&self, position: usize, item: &Item) -> bool {
        let head = item.head();
        self.incoming[position].tombstone.as_ref().is_some_and(|deleted| {
            (&deleted.head.kind, &deleted.head.call_id) == (&head.kind, &head.call_id)
                && deleted.fingerprint == Fingerprint::from_item(self.key, item)
        })
    }

    /// Whether the item has content to store. The bare id of a reasoning item that nobody holds has
    /// none.
    fn means_something(&mut self, position: usize, item: &Item) -> Result<bool, ApiError> {
        if self.others != Others::None || !is_bare_reasoning(item) {
            return Ok(true);
        }
        if let Some(id) = item.head().id.clone().filter(|_| self.strict) {
            return Err(Fault::UnresolvedReference { id }.refusal(position).into());
        }
        self.report.left_out(position, item, OmissionReason::BareReasoning);
        Ok(false)
    }

    /// Whether the item has the call that it needs; only outputs need one. An output for an unknown
    /// call is dropped if a message follows it, because it is then part of a resent history.
    /// Otherwise it is a new result without a place in the transcript, and is rejected. It is
    /// admitted if its call may be among the items at the upstream that the input refers to.
    fn has_its_call(&mut self, position: usize, item: &Item) -> Result<bool, ApiError> {
        let Some((Side::Output, key)) = item.head().pairing() else { return Ok(true) };
        if key.call_id.as_str().is_empty() && self.transcript.exchange(&key).is_none() {
            return Err(Fault::EmptyCallId { kind: item.head().kind.clone() }
                .refusal(position)
                .into());
        }
        if item.head().kind == Kind::McpApprovalResponse {
            return Ok(true);
        }
        let exchange = self.transcript.exchange(&key);
        let call = exchange.and_then(|exchange| {
            let asked = exchange.waiting().next().or(exchange.calls.last().copied());
            asked.map(|call| &self.transcript.items()[call])
        });
        match call {
            Some(call) if call.is_tombstone() => {
                self.report.left_out(position, item, OmissionReason::CallCutShort);
                Ok(false)
            }
            Some(_) => Ok(true),
            None if self.others == Others::UpstreamReferredTo => Ok(true),
            None if self.last_message > Some(position) && !self.strict => {
                self.report.left_out(position, item, OmissionReason::CallUnknown);
                Ok(false)
            }
            None => Err(call_unknown(item).refusal(position).into()),
        }
    }

    fn keep(&mut self, position: usize, item: Item, verdict: Verdict) {
        let own = item.head().id.clone();
        let own = own.filter(|id| self.transcript.position(id).is_none_or(|at| self.is_free(at)));
        let (id, item) = match own {
            Some(id) => (id, item),
            None => renamed(item),
        };
        if verdict == Verdict::FreshUnderUsedId {
            self.report.renamed(position, &self.incoming[position].item, &id);
        }
        let origin = self.incoming[position].origin.clone();
        let mut kept = HeldItem::new(id, &item, self.key, origin);
        kept.supersedes = verdict == Verdict::Replaces;
        self.sources.push(position);
        self.transcript.push(kept);
    }

    /// Whether the id of the stored item at this position may be used again.
    fn is_free(&self, at: usize) -> bool {
        self.transcript.items()[at].is_tombstone()
    }
}

/// Gives the item an id of ours. Its bytes change only if they contain another id.
fn renamed(item: Item) -> (ItemId, Item) {
    let id = ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
    let item = match item.head().id {
        None => item,
        Some(_) => item.with(|object| object.set_string("id", id.as_str())),
    };
    (id, item)
}

/// Whether an earlier attempt at the request stored this item: unchanged or, if it was a late
/// output, as the message with its text. A compaction trigger has had its effect and counts as new.
fn is_stored_as(stored: &HeldItem, item: &Item, key: FingerprintKey) -> bool {
    let says = |item: &Item| {
        let (mine, head) = (item.head(), &stored.head);
        (&mine.kind, &mine.role, &mine.call_id) == (&head.kind, &head.role, &head.call_id)
            && Fingerprint::from_item(key, item) == stored.fingerprint
    };
    item.head().kind != Kind::CompactionTrigger
        && (says(item) || late_output_message(item).is_some_and(|message| says(&message)))
}

fn call_unknown(item: &Item) -> Fault {
    let head = item.head();
    Fault::OutputWithoutCall { kind: head.kind.clone(), call_id: head.call_id.clone() }
}

/// Rejects a repeated item with the provider's error, if repairs are disabled.
fn refuse_repetition(position: usize, item: &Item, verdict: Verdict) -> Result<(), ApiError> {
    let repeats = match verdict {
        Verdict::Duplicate(_) | Verdict::FreshUnderUsedId => true,
        Verdict::Resent(resent) => resent.rule == Rule::SameId,
        _ => false,
    };
    match item.head().id.clone().filter(|_| repeats && item.head().kind != Kind::ItemReference) {
        Some(id) => Err(Fault::DuplicateItem { id }.refusal(position).into()),
        None => Ok(()),
    }
}
