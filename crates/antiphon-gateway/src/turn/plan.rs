//! What of the input is new, and what the model is to be given.

use antiphon::faults::Fault;
use antiphon::item::{FingerprintKey, IdSource, Side};
use antiphon::reconcile::{Verdict, reconcile};
use antiphon::repair::{Mend, repair};
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};

use super::Turn;
use super::report::{LeftOut, Report};
use super::resolve::Incoming;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::settings::Faults;
use crate::upstream::Upstream;

/// A turn that is ready to be sent.
pub(super) struct Plan {
    /// What is held, and behind it the fresh input.
    pub(super) transcript: Transcript,
    /// The fresh input, to be kept.
    pub(super) fresh: Vec<HeldItem>,
    /// What the model is given.
    pub(super) view: Vec<Item>,
    /// Who will answer.
    pub(super) origin: Origin,
    /// What was left out and mended.
    pub(super) report: Report,
}

impl Turn<'_> {
    /// Reconciles and repairs. What a provider would refuse is refused here if the operator wants
    /// it so, and an output that is submitted for a call that nobody knows always is.
    pub(super) fn plan(
        &self,
        held: Transcript,
        incoming: Vec<Incoming>,
        upstream: Upstream<'_>,
    ) -> Result<Plan, ApiError> {
        let strict = self.gateway.settings.faults == Faults::Reject;
        let key = self.gateway.fingerprint_key;
        let origin = upstream.origin(&self.request.model);
        let mut admission = Admission::new(held, incoming, key, strict);
        admission.admit_all()?;
        let Admission {
            transcript,
            sources,
            report,
            held,
            ..
        } = admission;
        let mut view = View::of(&transcript, &sources, held, report);
        view.leave_unusable_reasoning(&origin, strict)?;
        let (view, report) = view.mended(strict)?;
        let fresh = transcript.items()[held..].to_vec();
        Ok(Plan {
            transcript,
            fresh,
            view,
            origin,
            report,
        })
    }
}

/// Takes incoming items into the transcript, one by one.
struct Admission {
    transcript: Transcript,
    /// How many items were held before.
    held: usize,
    incoming: Vec<Incoming>,
    verdicts: Vec<Verdict>,
    /// For each admitted item its position in the input.
    sources: Vec<usize>,
    /// The position in the input behind which no message follows.
    last_message: Option<usize>,
    key: FingerprintKey,
    strict: bool,
    report: Report,
}

impl Admission {
    fn new(
        transcript: Transcript,
        incoming: Vec<Incoming>,
        key: FingerprintKey,
        strict: bool,
    ) -> Self {
        let items: Vec<Item> = incoming
            .iter()
            .map(|incoming| incoming.item.clone())
            .collect();
        Self {
            verdicts: reconcile(&transcript, &items, key),
            held: transcript.items().len(),
            sources: Vec::with_capacity(items.len()),
            last_message: items
                .iter()
                .rposition(|item| item.head().kind == Kind::Message),
            report: Report::new(items.len()),
            transcript,
            incoming,
            key,
            strict,
        }
    }

    fn admit_all(&mut self) -> Result<(), ApiError> {
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
        match verdict {
            Verdict::Resent(resent) => {
                let held = self.transcript.items()[resent.held].id.clone();
                self.report.resent(position, &item, held, resent);
            }
            Verdict::Deleted => self.report.left_out(position, &item, LeftOut::Deleted),
            Verdict::Duplicate(_) => self.report.left_out(position, &item, LeftOut::Repeated),
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Supersedes => {
                if self.has_its_call(position, &item)? {
                    self.keep(position, item, verdict);
                }
            }
        }
        Ok(())
    }

    /// Whether an output has a call to answer; everything else has no need of one. An output that
    /// is submitted for a call that nobody knows is refused: it is new information, and there is no
    /// place for it.
    fn has_its_call(&mut self, position: usize, item: &Item) -> Result<bool, ApiError> {
        if item.head().kind.call().is_none() || item.head().kind == Kind::McpApprovalResponse {
            return Ok(true);
        }
        let pairing = item
            .head()
            .pairing()
            .filter(|(side, _)| *side == Side::Output);
        let exchange = pairing.and_then(|(_, key)| self.transcript.exchange(&key));
        let call = exchange.and_then(|exchange| {
            let next = exchange
                .calls
                .get(exchange.outputs.len())
                .or(exchange.calls.last());
            next.map(|call| &self.transcript.items()[*call])
        });
        match call {
            Some(call) if call.is_tombstone() => {
                self.report.left_out(position, item, LeftOut::CallCutShort);
                Ok(false)
            }
            Some(_) => Ok(true),
            None if self.last_message > Some(position) && !self.strict => {
                self.report.left_out(position, item, LeftOut::CallUnknown);
                Ok(false)
            }
            None => Err(call_unknown(item).refusal(position).into()),
        }
    }

    fn keep(&mut self, position: usize, item: Item, verdict: Verdict) {
        let own = item.head().id.clone();
        let own = own.filter(|id| {
            self.transcript
                .position(id)
                .is_none_or(|at| self.is_free(at))
        });
        let (id, item) = match own {
            Some(id) => (id, item),
            None => renamed(item),
        };
        if verdict == Verdict::FreshUnderUsedId {
            self.report
                .renamed(position, &self.incoming[position].item, &id);
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

fn call_unknown(item: &Item) -> Fault {
    let head = item.head();
    Fault::OutputWithoutCall {
        kind: head.kind.clone(),
        call_id: head.call_id.clone(),
    }
}

/// What a provider says of an item that it holds already, where nothing is mended.
fn refuse_repetition(position: usize, item: &Item, verdict: Verdict) -> Result<(), ApiError> {
    use antiphon::reconcile::Rule;
    let repeats = match verdict {
        Verdict::Duplicate(_) => true,
        Verdict::Resent(resent) => resent.rule == Rule::SameId,
        _ => false,
    };
    match item
        .head()
        .id
        .clone()
        .filter(|_| repeats && item.head().kind != Kind::ItemReference)
    {
        Some(id) => Err(Fault::DuplicateItem { id }.refusal(position).into()),
        None => Ok(()),
    }
}

/// The items that a model is to be given, while they are being sorted out.
struct View {
    items: Vec<Item>,
    origins: Vec<Option<Origin>>,
    /// For each item its position in the input; `None` for what was held before.
    sources: Vec<Option<usize>>,
    report: Report,
}

impl View {
    fn of(transcript: &Transcript, sources: &[usize], held: usize, report: Report) -> Self {
        let positions = transcript.view();
        let item = |at: &usize| {
            transcript.items()[*at]
                .item()
                .expect("a view has live items only")
        };
        Self {
            items: positions.iter().map(item).collect(),
            origins: positions
                .iter()
                .map(|at| transcript.items()[*at].origin.clone())
                .collect(),
            sources: positions
                .iter()
                .map(|at| at.checked_sub(held).map(|fresh| sources[fresh]))
                .collect(),
            report,
        }
    }

    /// Encrypted reasoning goes back only to where it was made, and reasoning that is neither
    /// encrypted nor spelled out means nothing to a server that keeps no state.
    fn leave_unusable_reasoning(&mut self, origin: &Origin, strict: bool) -> Result<(), ApiError> {
        let mut kept = vec![true; self.items.len()];
        for (at, item) in self.items.iter().enumerate() {
            let Some(reason) = unusable(item, self.origins[at].as_ref(), origin) else {
                continue;
            };
            let source = self.sources[at];
            if let (true, Some(position), Some(id)) = (strict, source, &item.head().id) {
                return Err(Fault::UnresolvedReference { id: id.clone() }
                    .refusal(position)
                    .into());
            }
            self.report.left_out_of_view(source, item, reason);
            kept[at] = false;
        }
        let mut keep = kept.iter();
        self.items.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = kept.iter();
        self.sources
            .retain(|_| keep.next().copied().unwrap_or(true));
        Ok(())
    }

    fn mended(mut self, strict: bool) -> Result<(Vec<Item>, Report), ApiError> {
        let repaired = repair(&self.items);
        if let Some(mend) = repaired.mends.first().filter(|_| strict) {
            let position = self.sources[mend.position].unwrap_or(mend.position);
            return Err(mend.fault.refusal(position).into());
        }
        for mend in &repaired.mends {
            let Mend { position, .. } = mend;
            self.report
                .mended(self.sources[*position], &self.items[*position], mend);
        }
        Ok((repaired.items, self.report))
    }
}

/// Why a reasoning item cannot be sent to `target`.
fn unusable(item: &Item, made_by: Option<&Origin>, target: &Origin) -> Option<LeftOut> {
    let head = item.head();
    if head.kind != Kind::Reasoning {
        return None;
    }
    if head.encrypted {
        return made_by
            .is_some_and(|origin| origin != target)
            .then_some(LeftOut::ForeignReasoning);
    }
    let is_bare = item
        .object()
        .present("content")
        .is_none_or(|content| content == "[]");
    is_bare.then_some(LeftOut::BareReasoning)
}
