//! The plan of a turn: the items that the upstream does not have, repaired so that it accepts them.

use antiphon::faults::OmissionReason;
use antiphon::provider_api::{Detour, RefusedItems};
use antiphon::reconcile::{Admission, AdmissionMode, AdmissionRules, StoredInput};
use antiphon::repair::OnOutputWithoutCall;
use antiphon::stateful::{BlockingItems, Draft, RepairedDraft};
use antiphon::{HeldItem, Item, Origin, Transcript};
use bytes::Bytes;

use super::UpstreamTurn;
use super::open::OpenedAtUpstream;
use super::turn_copy::CopiedTurn;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::admission::issue_item_id;
use crate::turn::encode::Previous;
use crate::turn::report::Report;
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
    pub(super) continue_from: ContinueFrom,
    /// Stored items that should be deleted before the request is sent.
    pub(super) blocking: BlockingItems,
    /// The model that answers, as the origin of the output items.
    pub(super) origin: Origin,
    /// The items that were dropped or repaired.
    pub(super) report: Report,
    /// A copy of the turn, if the upstream may lose it.
    pub(super) copy: Option<CopiedTurn>,
}

/// The inputs of a plan besides the ledger.
#[derive(Clone, Default)]
pub(super) struct PlanInputs {
    /// Items that the upstream rejected although its own listing gives no reason.
    pub(super) refused: RefusedItems,
    /// The point in the upstream's state that the request continues.
    pub(super) continue_from: ContinueFrom,
    /// The input items that an earlier attempt at the request left at the upstream: position in the
    /// input, position in the transcript.
    pub(super) stored: Vec<(usize, usize)>,
}

/// The point in the upstream's state that a request continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum ContinueFrom {
    /// The response or conversation in the caller's request.
    #[default]
    AsRequested,
    /// An earlier point: the request contains all items after it.
    Earlier(EarlierPoint),
    /// The items around those that block the previous response.
    Detour(Detour),
}

/// A point before the previous response, from which the ledger has the full content.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EarlierPoint {
    /// The response that ends there. `None` at the start of the chain.
    pub(super) previous: Option<String>,
    /// The number of stored items before it.
    pub(super) kept: usize,
}

impl ContinueFrom {
    /// The response that the request continues, in place of the caller's.
    pub(super) fn previous(&self) -> Previous<'_> {
        match self {
            Self::AsRequested => Previous::AsRequested,
            Self::Earlier(point) => Previous::Other(point.previous.as_deref()),
            Self::Detour(detour) => Previous::Other(detour.previous.as_deref()),
        }
    }
}

impl PlanInputs {
    /// The inputs after a resync, with the input items that are stored now.
    pub(super) fn after_resync(self, stored: Vec<(usize, usize)>) -> Self {
        let continue_from = match self.continue_from {
            ContinueFrom::Detour(_) => ContinueFrom::AsRequested,
            continue_from => continue_from,
        };
        Self { continue_from, stored, ..self }
    }
}

impl Plan {
    /// Reconciles the input with the ledger and repairs the items that the upstream would reject.
    pub(super) async fn new(
        opened: &OpenedAtUpstream<'_>,
        inputs: &PlanInputs,
    ) -> Result<Self, ApiError> {
        let at = opened.at;
        let turn = at.turn;
        let draft = at.draft(opened.load(&inputs.continue_from).await?, inputs)?;
        let report = Report::from_admission(&turn.request.input, &draft.admission);
        let mut report = report.with_request(&turn.caller.request_id);
        let (names_unknown, blocking) = (draft.admission.names_unknown, draft.blocking());
        let continue_from = inputs.continue_from.clone();
        let (draft, repaired) = match &continue_from {
            ContinueFrom::Earlier(point) => {
                let (draft, lost) = draft.into_replay(point.kept);
                for item in &lost {
                    report.left_out_of_view(None, item, OmissionReason::BareReasoning);
                }
                report.replayed(draft.replayed_items());
                let repaired = at.repair(&draft, OnOutputWithoutCall::default());
                (draft, repaired)
            }
            ContinueFrom::AsRequested | ContinueFrom::Detour(_) => {
                let repaired = at.repair_new(&draft)?;
                (draft, repaired)
            }
        };
        let RepairedDraft { mut sent, fresh, repairs } = repaired;
        if let ContinueFrom::Detour(detour) = &continue_from {
            sent.splice(0..0, detour.references.iter().cloned());
        }
        for item in &mut sent {
            let unsealed = turn.gateway.compaction_key.unseal_item(&turn.caller.tenant, item);
            *item = unsealed.unwrap_or_else(|| item.clone());
        }
        report.add_repairs(repairs);
        let Admission { transcript, held, .. } = draft.admission;
        let copy = at.copy(&continue_from, &transcript.items()[..held], &fresh);
        let fresh = fresh.into_iter().map(|item| at.entered(item)).collect();
        let origin = Upstream::Http(at.http).origin(&turn.request.model);
        Ok(Self {
            transcript,
            held,
            fresh,
            sent,
            names_unknown,
            continue_from,
            blocking,
            origin,
            report,
            copy,
        })
    }

    /// The parts of the request in which plans of the same turn differ.
    pub(super) fn request(&self) -> (ContinueFrom, Vec<Bytes>) {
        (self.continue_from.clone(), self.sent.iter().map(|item| item.raw().clone()).collect())
    }

    /// Whether nothing is left to send, although the upstream does not hold all of the caller's
    /// input.
    pub(super) fn is_emptied(&self) -> bool {
        self.sent.is_empty() && !self.report.is_all_resent()
    }
}

impl UpstreamTurn<'_> {
    /// Adds the new items of the input to the ledger's items.
    fn draft(&self, stored: Transcript, inputs: &PlanInputs) -> Result<Draft, ApiError> {
        let (turn, key) = (self.turn, self.turn.gateway.fingerprint_key);
        let mut rules = AdmissionRules::new(key, AdmissionMode::Ledger, !turn.repairs());
        rules.style = turn.request.replay_style;
        rules.stored = StoredInput::Items(inputs.stored.iter().copied().collect());
        let input = &turn.request.input;
        Ok(Draft::new(stored, input, &inputs.refused, rules, &mut issue_item_id)?)
    }

    /// The copy of a turn with these stored and new items, if it needs one.
    fn copy(
        &self,
        continue_from: &ContinueFrom,
        held: &[HeldItem],
        fresh: &[HeldItem],
    ) -> Option<CopiedTurn> {
        let requested = match &self.turn.request.continues {
            Continues::Response(id) => Some(id.as_str()),
            Continues::Nothing | Continues::Conversation(_) => None,
        };
        let (previous, replayed) = match continue_from {
            _ if !self.needs_copy() => return None,
            ContinueFrom::AsRequested => (requested, &held[held.len()..]),
            ContinueFrom::Earlier(point) => (point.previous.as_deref(), &held[point.kept..]),
            // The new request refers to items of the responses that it avoids.
            ContinueFrom::Detour(_) => return None,
        };
        CopiedTurn::new(previous, replayed.iter().chain(fresh))
    }

    /// Repairs the new items, or rejects them if repairs are disabled. The admission left out the
    /// outputs whose calls are unknown; the upstream may have the calls of all others.
    fn repair_new(&self, draft: &Draft) -> Result<RepairedDraft, ApiError> {
        let outputs_without_call = OnOutputWithoutCall::Keep;
        if !self.turn.repairs() {
            draft.check(outputs_without_call)?;
        }
        let repaired = self.repair(draft, outputs_without_call);
        let request = self.turn.request;
        let has_context = request.continues != Continues::Nothing || request.is_prompted();
        if repaired.sent.is_empty() && !has_context {
            return Err(ApiError::MissingInput);
        }
        Ok(repaired)
    }

    fn repair(&self, draft: &Draft, outputs_without_call: OnOutputWithoutCall) -> RepairedDraft {
        let key = self.turn.gateway.fingerprint_key;
        draft.repair(outputs_without_call, |item| {
            let id = issue_item_id(&item.head().kind);
            HeldItem::new(id, item, key, Some(Origin::placeholder()))
        })
    }
}
