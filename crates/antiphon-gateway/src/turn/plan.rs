//! Plans a turn: finds the new items of the input and builds the prompt for the model.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use antiphon::dialect::{Encoder, RequestPath};
use antiphon::reconcile::Admission;
use antiphon::repair::made_with;
use antiphon::stream::Preface;
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};
use bytes::Bytes;

use super::admission::admit;
use super::client::Head;
use super::context::Turn;
use super::encode::{self, Sources};
use super::open::{Opened, OpenedTurn};
use super::prior_attempt::{CutAttempts, PriorInput};
use super::report::{PromptChanges, Report};
use super::resolve::resolve_input;
use super::sent_view::SentView;
use super::start::{Start, Target};
use super::view::View;
use crate::compaction::CompactionSealer;
use crate::error::ApiError;
use crate::request::{CompactionTrigger, check_chosen_tool};
use crate::span::Stage;
use crate::upstream::Upstream;

/// An open turn and its plan.
pub(super) struct PlannedTurn<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) opened: Box<Opened>,
    pub(super) plan: Box<Plan>,
}

impl<'a> PlannedTurn<'a> {
    /// Loads the transcript, finds the new items of the input and builds the prompt. `cut` holds
    /// the attempts at the same request that were cut short.
    pub(super) async fn plan(opened: OpenedTurn<'a>, cut: &CutAttempts) -> Result<Self, ApiError> {
        let OpenedTurn { turn, upstream, mut opened } = opened;
        let planner = Planner::new(turn, upstream);
        let stage = turn.stage(Stage::Load);
        let held = stage.close(opened.load_transcript(turn).await)?;
        let stage = turn.stage(Stage::Reconcile);
        let mut plan = stage.close(planner.plan(held, cut.prior.as_ref()).await)?;
        plan.report_prior_attempts(cut);
        Ok(Self { planner, opened, plan })
    }

    /// Fails if the new items exceed a quota.
    pub(super) async fn check_quotas(&self) -> Result<(), ApiError> {
        let (held, fresh) = self.plan.split_items();
        self.opened.check_quotas(self.planner.turn, held, fresh).await
    }

    /// The headers of the answer.
    pub(super) fn head(&self) -> Head {
        self.plan.report.head(&self.opened.response_id)
    }
}

/// The items and the prompt of a turn. It goes through all later stages, so it is on the heap.
pub(super) struct Plan {
    /// The stored items, followed by the new items of the input.
    pub(super) transcript: Arc<Transcript>,
    /// The input of the upstream request.
    pub(super) prompt: Prompt,
    /// The model that answers, as the origin of the output items.
    pub(super) origin: Origin,
    /// The items that were dropped or repaired.
    pub(super) report: Report,
    /// The compaction item at the start of the response.
    pub(super) preface: Option<Box<Preface>>,
    admitted: Admitted,
}

/// Facts about the input items after they were added to the transcript.
struct Admitted {
    /// The number of items before them: the stored ones. A request for a summary adds none, so all
    /// items of the transcript count.
    held: usize,
    /// The position in the input of each new item.
    sources: Vec<usize>,
    /// For each item that needs a reasoning item: the id of that reasoning item.
    made_with: HashMap<ItemId, ItemId>,
    /// The items of the input that were dropped.
    report: Report,
    /// Positions of items that an earlier attempt stored and that this attempt asks the model
    /// again.
    asked_again: Vec<usize>,
}

impl Admitted {
    /// The position in the input of the item at this transcript position.
    fn source(&self, at: usize) -> Option<usize> {
        self.sources.get(at.checked_sub(self.held)?).copied()
    }
}

/// The input of an upstream request.
pub(super) struct Prompt {
    /// The items.
    pub(super) view: Vec<Item>,
    /// The encoded request, if the upstream does not speak the Responses API.
    pub(super) encoded: Option<Bytes>,
}

impl Plan {
    /// The plan of a request for a summary of this plan. The gateway stores none of its items.
    pub(super) fn with_summary_prompt(&self, prompt: Prompt, changes: PromptChanges) -> Self {
        let mut report = Report::new(0);
        report.changes = changes;
        let admitted = Admitted {
            held: self.transcript.items().len(),
            sources: Vec::new(),
            made_with: HashMap::new(),
            report: report.clone(),
            asked_again: Vec::new(),
        };
        let (transcript, origin) = (self.transcript.clone(), self.origin.clone());
        Self { transcript, prompt, origin, report, preface: None, admitted }
    }

    /// The new items of the input, which the commit stores.
    pub(super) fn fresh(&self) -> &[HeldItem] {
        self.split_items().1
    }

    /// The stored items, and the new items of the input.
    fn split_items(&self) -> (&[HeldItem], &[HeldItem]) {
        self.transcript.items().split_at(self.admitted.held)
    }

    /// The position in the input of the item at this position of the transcript; `None` for an
    /// item that was stored before.
    pub(super) fn input_position(&self, at: usize) -> Option<usize> {
        self.admitted.source(at)
    }

    /// Whether the model is asked again for items that an earlier attempt stored.
    pub(super) fn asks_again(&self) -> bool {
        !self.admitted.asked_again.is_empty()
    }

    /// Whether the transcript contains a compaction already.
    pub(super) fn continues_compaction(&self) -> bool {
        let items = self.transcript.items().iter();
        items.filter(|item| !item.is_tombstone()).any(|item| item.head.kind == Kind::Compaction)
    }

    /// Records the view in the report, if it differs from the transcript.
    pub(super) fn record_view(&mut self, turn: &Turn<'_>) {
        if let Cow::Owned(report) = self.report_with_view(turn) {
            self.report = report;
        }
    }

    /// The report with the view, if it differs from the transcript.
    pub(super) fn report_with_view(&self, turn: &Turn<'_>) -> Cow<'_, Report> {
        match SentView::record(self, &turn.gateway.compaction_key, &turn.caller.tenant) {
            Some(view) => Cow::Owned(self.report.clone().with_view(view)),
            None => Cow::Borrowed(&self.report),
        }
    }

    /// Reports that earlier attempts at the same request were cut short.
    pub(super) fn report_prior_attempts(&mut self, cut: &CutAttempts) {
        let retry_of = cut.prior.as_ref().map(|prior| &prior.response);
        self.report.set_prior_attempt(cut.replaced, retry_of);
        self.admitted.report.set_prior_attempt(cut.replaced, retry_of);
    }
}

/// Builds the prompts of a turn for its upstream.
#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) turn: &'a Turn<'a>,
    pub(super) upstream: Upstream<'a>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(turn: &'a Turn<'a>, upstream: Upstream<'a>) -> Self {
        Self { turn, upstream }
    }
}

impl Planner<'_> {
    /// Resolves the input, reconciles it with the stored items and repairs the result. `prior` is
    /// the input that an earlier attempt at the request left in the conversation.
    ///
    /// With [`Faults::Reject`](crate::settings::Faults::Reject), an input that a provider would
    /// reject fails here. A new output for an unknown call always fails.
    pub(super) async fn plan(
        &self,
        held: Transcript,
        prior: Option<&PriorInput>,
    ) -> Result<Box<Plan>, ApiError> {
        let turn = self.turn;
        let incoming = resolve_input(turn, &held).await?;
        let origin = self.upstream.origin(&turn.request.model);
        let items: Vec<Item> = incoming.iter().map(|incoming| incoming.item.clone()).collect();
        let admission = admit(turn, held, &incoming, &items, prior)?;
        let mut report = Report::from_admission(&items, &admission);
        report.changes.add_client_changes(&turn.request.client_changes);
        let report = report.with_request(&turn.caller.request_id);
        let Admission { transcript, sources, held, .. } = admission;
        let made_with = pair_with_reasoning(&transcript, &items);
        let asked_again =
            prior.map_or_else(Vec::new, |prior| prior.positions_to_answer(&transcript));
        let admitted = Admitted { held, sources, made_with, report, asked_again };
        let target = Target::new(&origin, self.upstream);
        let (prompt, report) = self.build(&transcript, &admitted, target)?;
        let transcript = Arc::new(transcript);
        let preface = None;
        Ok(Box::new(Plan { transcript, prompt, origin, report, preface, admitted }))
    }

    /// Replaces the history in the plan with this compaction. `usage` is the cost of creating it.
    pub(super) fn replace_history(
        &self,
        plan: &mut Plan,
        compaction: Item,
        usage: Option<String>,
    ) -> Result<(), ApiError> {
        let id = compaction.head().id.clone().expect("the gateway gives a compaction an id");
        let (key, origin) = (self.turn.gateway.fingerprint_key, plan.origin.clone());
        let mut transcript = Transcript::clone(&plan.transcript);
        transcript.push(HeldItem::new(id, &compaction, key, Some(origin)));
        let target = Target::new(&plan.origin, self.upstream);
        (plan.prompt, plan.report) = self.build(&transcript, &plan.admitted, target)?;
        plan.preface = Some(Box::new(Preface::new(compaction, usage)));
        Ok(())
    }

    /// Plans again after the upstream failed to read its own compaction: the prompt then contains
    /// the items that the compaction replaced.
    pub(super) fn restore_history(&self, plan: &mut Plan) -> Result<(), ApiError> {
        let target = Target { reads_its_own: false, ..Target::new(&plan.origin, self.upstream) };
        (plan.prompt, plan.report) = self.build(&plan.transcript, &plan.admitted, target)?;
        Ok(())
    }

    /// Builds the prompt for a transcript, and the report of dropped and repaired items.
    fn build(
        &self,
        transcript: &Transcript,
        admitted: &Admitted,
        target: Target<'_>,
    ) -> Result<(Prompt, Report), ApiError> {
        let (turn, origin, strict) = (self.turn, target.origin, !self.turn.repairs());
        let (source, mut report) = (|at| admitted.source(at), admitted.report.clone());
        let started = admitted.held + admitted.sources.len();
        let start = Start::find(turn, transcript, started, target, source, &mut report.changes)?;
        let asked_again = (&admitted.asked_again[..], admitted.held..started);
        let changes = std::mem::take(&mut report.changes);
        let mut view = View::new(transcript, start.as_ref(), asked_again, source, changes);
        if !self.upstream_compacts(origin) {
            view.remove_triggers();
        }
        view.remove_unusable_reasoning(origin, self.upstream.api(), strict)?;
        let (view, changes) = view.repair(strict, admitted.made_with.clone())?;
        report.changes = changes;
        if view.is_empty() && !turn.request.is_prompted() {
            return Err(ApiError::MissingInput);
        }
        check_chosen_tool(&turn.request.object(), &view)?;
        let prompt = self.encode(view, origin, &mut report.changes)?;
        Ok((prompt, report))
    }

    /// Whether the upstream compacts the history for this request.
    pub(super) fn upstream_compacts(&self, origin: &Origin) -> bool {
        let refusing = &self.turn.gateway.upstreams.without_compaction;
        self.turn.request.compaction != CompactionTrigger::None
            && self.upstream.is_responses_server()
            && !refusing.contains(origin)
    }

    /// Seals the compactions of an upstream that can create them.
    pub(super) fn sealing(&self, origin: &Origin) -> Option<CompactionSealer> {
        let Turn { gateway, caller, .. } = self.turn;
        let key = || Arc::clone(&gateway.compaction_key);
        let sealing = || CompactionSealer::new(key(), caller.tenant.clone(), origin.clone());
        self.upstream.is_responses_server().then(sealing)
    }

    /// Encodes the items for the upstream. The changes list all that its API cannot carry.
    pub(super) fn encode(
        &self,
        view: Vec<Item>,
        origin: &Origin,
        changes: &mut PromptChanges,
    ) -> Result<Prompt, ApiError> {
        let encoded = match self.upstream.api().encoder() {
            None => None,
            Some(encode) => Some(self.translate(encode, &view, origin, changes)?),
        };
        Ok(Prompt { view, encoded })
    }

    fn translate(
        &self,
        encode: Encoder,
        view: &[Item],
        origin: &Origin,
        changes: &mut PromptChanges,
    ) -> Result<Bytes, ApiError> {
        let encoded = encode::translate(encode, self.turn.request, view, origin)?;
        if encoded.omissions.is_empty() {
            return Ok(encoded.body);
        }
        let sources = Sources::new(&self.turn.request.input);
        for omission in &encoded.omissions {
            match &omission.place {
                RequestPath::Field(path) => changes.adapted_field(path, &omission.message),
                RequestPath::Item(at, _) => {
                    let source = sources.position(&view[*at]);
                    let message =
                        encode::rewrite_message(&omission.message, *at, &view[*at], source);
                    changes.adapted_item(source, &view[*at], message);
                }
            }
        }
        Ok(encoded.body)
    }
}

/// Pairs items with the reasoning items that they need. The transcript, including deleted items,
/// takes precedence over the pairs from the request.
fn pair_with_reasoning(transcript: &Transcript, input: &[Item]) -> HashMap<ItemId, ItemId> {
    let mut pairs = made_with(input.iter().map(|item| (item.head(), item.head().id.as_ref())));
    pairs.extend(made_with(transcript.items().iter().map(|item| (&item.head, Some(&item.id)))));
    pairs
}
