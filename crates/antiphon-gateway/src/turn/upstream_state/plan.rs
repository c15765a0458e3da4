//! Plans a turn: the items that the upstream does not have, repaired so that it accepts them.

use antiphon::faults::OmissionReason;
use antiphon::item::IdSource;
use antiphon::provider_api::{Detour, RefusedItems};
use antiphon::repair::OnOutputWithoutCall;
use antiphon::stateful::{BlockingItems, Draft};
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};
use bytes::Bytes;

use super::UpstreamTurn;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::Continues;
use crate::settings::Faults;
use crate::turn::admission::Admission;
use crate::turn::encode::Previous;
use crate::turn::open::Opened;
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
    pub(super) continue_from: ContinueFrom,
    /// Stored items that should be deleted before the request is sent.
    pub(super) blocking: BlockingItems,
    /// The model that answers, as the origin of the output items.
    pub(super) origin: Origin,
    /// The items that were dropped or repaired.
    pub(super) report: Report,
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
    /// Nothing: the request contains the full content of the previous response.
    Nothing,
    /// The items around those that block the previous response.
    Detour(Detour),
}

impl ContinueFrom {
    /// The response that the request continues, in place of the caller's.
    pub(super) fn previous(&self) -> Previous<'_> {
        match self {
            Self::AsRequested => Previous::AsRequested,
            Self::Nothing => Previous::Other(None),
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
    /// Sets how often the upstream was asked again.
    pub(super) fn retried(mut self, times: u32) -> Self {
        self.report.retried(times);
        self
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
    /// Reconciles the input with the ledger and repairs the items that the upstream would reject.
    pub(super) async fn plan(
        &self,
        opened: &Opened,
        inputs: &PlanInputs,
    ) -> Result<Plan, ApiError> {
        let stored = self.turn.load(opened.cursor).await?;
        let (mut admission, names_unknown) = self.admit(stored, inputs)?;
        let draft = Draft::new(&admission.transcript, admission.held, admission.made_with.clone());
        let blocking = draft.blocking(&admission.transcript, &admission.late);
        let continue_from = inputs.continue_from.clone();
        let (fresh, mut sent) = match &continue_from {
            ContinueFrom::Nothing => {
                let (draft, lost) = draft.into_replay();
                for item in &lost {
                    let why = OmissionReason::BareReasoning;
                    admission.report.left_out_of_view(None, item, why);
                }
                admission.report.replayed(draft.stored_items());
                self.repair(&draft, &mut admission, OnOutputWithoutCall::default())
            }
            ContinueFrom::AsRequested | ContinueFrom::Detour(_) => {
                self.repair_new(&draft, &mut admission, names_unknown)?
            }
        };
        if let ContinueFrom::Detour(detour) = &continue_from {
            sent.splice(0..0, detour.references.iter().cloned());
        }
        let Admission { transcript, held, report, .. } = admission;
        let report = report.with_request(&self.turn.caller.request_id);
        let origin = Upstream::Http(self.http).origin(&self.turn.request.model);
        Ok(Plan {
            transcript,
            held,
            fresh,
            sent,
            names_unknown,
            continue_from,
            blocking,
            origin,
            report,
        })
    }

    /// Adds the input to the transcript. Also returns whether it refers to items that the ledger
    /// does not have.
    fn admit(
        &self,
        stored: Transcript,
        inputs: &PlanInputs,
    ) -> Result<(Admission, bool), ApiError> {
        let turn = self.turn;
        let incoming: Vec<Incoming> =
            turn.request.input.iter().cloned().map(Incoming::new).collect();
        let is_refused = |item: &Item| inputs.refused.reason_for(item.head().id.as_ref()).is_some();
        let names_unknown =
            incoming.iter().any(|it| is_unknown(&it.item, &stored) && !is_refused(&it.item));
        let strict = turn.gateway.settings.faults == Faults::Reject;
        let key = turn.gateway.fingerprint_key;
        let admission = Admission::new(stored, incoming, key, strict);
        let mut admission = admission.known(&inputs.refused, &inputs.stored).behind_upstream();
        admission.made_with.extend(inputs.refused.made_with.clone());
        admission.admit_all()?;
        Ok((admission, names_unknown))
    }

    /// Repairs the new items, or rejects them if repairs are disabled.
    fn repair_new(
        &self,
        draft: &Draft,
        admission: &mut Admission,
        names_unknown: bool,
    ) -> Result<(Vec<HeldItem>, Vec<Item>), ApiError> {
        let outputs_without_call = match names_unknown {
            true => OnOutputWithoutCall::Keep,
            false => OnOutputWithoutCall::Drop,
        };
        if !self.turn.repairs()
            && let Some(repair) = draft.repair(outputs_without_call).repairs.first()
        {
            let (source, _) = draft.source(repair, &admission.sources);
            return Err(repair.fault.refusal(source.unwrap_or(repair.position)).into());
        }
        let (fresh, sent) = self.repair(draft, admission, outputs_without_call);
        if sent.is_empty() && self.has_no_context() {
            return Err(ApiError::MissingInput);
        }
        Ok((fresh, sent))
    }

    /// Repairs the draft. Returns the new ledger entries, and the sent items.
    fn repair(
        &self,
        draft: &Draft,
        admission: &mut Admission,
        outputs_without_call: OnOutputWithoutCall,
    ) -> (Vec<HeldItem>, Vec<Item>) {
        let repaired = draft.repair(outputs_without_call);
        for repair in &repaired.repairs {
            let (source, item) = draft.source(repair, &admission.sources);
            admission.report.mended(source, item, repair);
        }
        let key = self.turn.gateway.fingerprint_key;
        let placeholder = |item: &Item| {
            let id = ItemId::from(RandomIds.issue(item.head().kind.id_prefix()));
            HeldItem::new(id, item, key, Some(Origin::placeholder()))
        };
        let fresh = draft.new_items(&repaired, &admission.transcript, placeholder);
        (fresh.into_iter().map(|item| self.entered(item)).collect(), repaired.items)
    }

    /// Whether a request without input would have no context either.
    fn has_no_context(&self) -> bool {
        self.turn.request.continues == Continues::Nothing && !self.turn.request.is_prompted()
    }
}

/// Whether the item refers to an item that the transcript does not have.
fn is_unknown(item: &Item, held: &Transcript) -> bool {
    let head = item.head();
    let names = head.id.as_ref().filter(|_| head.kind == Kind::ItemReference);
    names.is_some_and(|id| held.position(id).is_none())
}
