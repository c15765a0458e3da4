//! Incoming items on their way into the transcript.

use std::collections::HashMap;

use antiphon::faults::Fault;
use antiphon::item::{FingerprintKey, IdSource, Side};
use antiphon::made_up::{LateOutput, message_of_late_output};
use antiphon::reconcile::{Rule, Verdict, reconcile};
use antiphon::repair::made_with;
use antiphon::{Fingerprint, HeldItem, Item, ItemId, Kind, Origin, Transcript};

use super::report::Report;
use super::resolve::Incoming;
use super::retry::PriorInput;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::is_bare_reasoning;
use antiphon::faults::LeftOut;
use antiphon::kept::Objections;

/// Who else may hold what the transcript does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// Nobody.
    None,
    /// The upstream. What has an id may be there.
    Upstream,
    /// The upstream, and the input refers to some of it, which may be calls.
    UpstreamReferredTo,
}

/// Takes incoming items into the transcript, one by one.
pub(super) struct Admission {
    pub(super) transcript: Transcript,
    /// How many items were held before.
    pub(super) held: usize,
    incoming: Vec<Incoming>,
    verdicts: Vec<Verdict>,
    /// For each admitted item its position in the input.
    pub(super) sources: Vec<usize>,
    /// The position in the input behind which no message follows.
    last_message: Option<usize>,
    key: FingerprintKey,
    strict: bool,
    others: Others,
    /// What the upstream refused of the input.
    objections: Objections,
    /// For each position that an earlier attempt of the same request brought, where it is held.
    brought: HashMap<usize, usize>,
    /// The outputs that came late: each position in the input, and where the made-up one is held.
    pub(super) late: Vec<(usize, usize)>,
    pub(super) report: Report,
    /// Which reasoning the incoming items were made with, whatever becomes of it.
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
            objections: Objections::default(),
            brought: HashMap::new(),
            late: Vec::new(),
        }
    }

    /// The same for a request of which an earlier attempt left its input in the transcript. That input
    /// is judged as it was then, by what was held before it, and none of it is stored again.
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

    /// The same where the upstream refused some of it, and an earlier attempt of the same request brought
    /// it some: positions, and where they are held.
    pub(super) fn known(mut self, objections: &Objections, brought: &[(usize, usize)]) -> Self {
        self.objections = objections.clone();
        self.brought = brought.iter().copied().collect();
        self
    }

    /// The same into the ledger of what an upstream keeps: what that does not say, the upstream may hold.
    pub(super) fn behind_upstream(mut self) -> Self {
        let mut items = self.incoming.iter().map(|incoming| incoming.item.head());
        let is_unknown = |id: &ItemId| {
            self.transcript.position(id).is_none() && self.objections.to_item(Some(id)).is_none()
        };
        let refers = items.any(|head| {
            head.kind == Kind::ItemReference && head.id.as_ref().is_some_and(is_unknown)
        });
        self.others = if refers { Others::UpstreamReferredTo } else { Others::Upstream };
        self
    }

    /// The item at this position of the input.
    pub(super) fn item(&self, position: usize) -> &Item {
        &self.incoming[position].item
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
            Verdict::Deleted => self.report.left_out(position, &item, LeftOut::Deleted),
            Verdict::Duplicate(_) => self.report.left_out(position, &item, LeftOut::Repeated),
            _ if self.was_deleted_elsewhere(position, &item) => {
                self.report.left_out(position, &item, LeftOut::Deleted);
            }
            Verdict::LateOutput { made_up } => self.tell_late(position, &item, made_up),
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Supersedes => {
                if self.means_something(position, &item)? && self.has_its_call(position, &item)? {
                    self.keep(position, item, verdict);
                }
            }
        }
        Ok(())
    }

    /// Whether more is known of an item than the transcript tells: that the upstream refuses it, or that
    /// an earlier attempt of the same request brought it there.
    fn is_known(&mut self, position: usize, item: &Item) -> bool {
        if let Some(why) = self.objections.to_item(item.head().id.as_ref()) {
            self.report.left_out(position, item, why);
            return true;
        }
        if let Some(held) = self.brought.get(&position) {
            let held = &self.transcript.items()[*held];
            match held.is_tombstone() {
                true => self.report.left_out(position, item, LeftOut::Deleted),
                false => self.report.brought(position, item, &held.id),
            }
            return true;
        }
        false
    }

    /// A message takes the place of an output whose call a made-up one answered.
    fn tell_late(&mut self, position: usize, item: &Item, made_up: usize) {
        let message = message_of_late_output(item).expect("a late output is an output");
        self.late.push((position, made_up));
        self.report.late_output(position, item, LateOutput::Told);
        let id = ItemId::from(RandomIds.issue(message.head().kind.id_prefix()));
        let kept = HeldItem::new(id, &message, self.key, Some(Origin::made_up()));
        self.sources.push(position);
        self.transcript.push(kept);
    }

    /// Whether the item was deleted under its id where this transcript does not reach: it comes back
    /// to no model by a replay. A message is known by what it says too, since some servers number
    /// their ids anew for every response.
    fn was_deleted_elsewhere(&self, position: usize, item: &Item) -> bool {
        let head = item.head();
        self.incoming[position].tombstone.as_ref().is_some_and(|deleted| {
            (&deleted.head.kind, &deleted.head.call_id) == (&head.kind, &head.call_id)
                && deleted.fingerprint == Fingerprint::of(self.key, item)
        })
    }

    /// Whether there is anything in the item to keep: of reasoning that nobody holds, the id alone
    /// is nothing.
    fn means_something(&mut self, position: usize, item: &Item) -> Result<bool, ApiError> {
        if self.others != Others::None || !is_bare_reasoning(item) {
            return Ok(true);
        }
        if let Some(id) = item.head().id.clone().filter(|_| self.strict) {
            return Err(Fault::UnresolvedReference { id }.refusal(position).into());
        }
        self.report.left_out(position, item, LeftOut::BareReasoning);
        Ok(false)
    }

    /// Whether an output has a call to answer; everything else has no need of one. An output that
    /// is submitted for a call that nobody knows is refused: it is new information, and there is no
    /// place for it.
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
                self.report.left_out(position, item, LeftOut::CallCutShort);
                Ok(false)
            }
            Some(_) => Ok(true),
            None if self.others == Others::UpstreamReferredTo => Ok(true),
            None if self.last_message > Some(position) && !self.strict => {
                self.report.left_out(position, item, LeftOut::CallUnknown);
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
        kept.supersedes = verdict == Verdict::Supersedes;
        self.sources.push(position);
        self.transcript.push(kept);
    }

    /// Whether the id of the item held there may be used again.
    fn is_free(&self, at: usize) -> bool {
        self.transcript.items()[at].is_tombstone()
    }
}

/// The item under an id of ours. Its bytes change only where they name another.
fn renamed(item: Item) -> (ItemId, Item) {
    let id = ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
    let item = match item.head().id {
        None => item,
        Some(_) => item.with(|object| object.set_string("id", id.as_str())),
    };
    (id, item)
}

/// Whether an attempt at the same request stored this item so: as it came, or, where it was a late
/// output, as the message that tells of it. A compaction trigger has had its effect, and counts anew.
fn is_stored_as(stored: &HeldItem, item: &Item, key: FingerprintKey) -> bool {
    let says = |item: &Item| {
        let (mine, head) = (item.head(), &stored.head);
        (&mine.kind, &mine.role, &mine.call_id) == (&head.kind, &head.role, &head.call_id)
            && Fingerprint::of(key, item) == stored.fingerprint
    };
    item.head().kind != Kind::CompactionTrigger
        && (says(item) || message_of_late_output(item).is_some_and(|message| says(&message)))
}

fn call_unknown(item: &Item) -> Fault {
    let head = item.head();
    Fault::OutputWithoutCall { kind: head.kind.clone(), call_id: head.call_id.clone() }
}

/// What a provider says of an item that it holds already, where nothing is mended.
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
