//! Plans a turn: finds the new items of the input and builds the prompt for the model.

use std::collections::HashMap;

use antiphon::dialect::{Encoder, RequestPath};
use antiphon::repair::made_with;
use antiphon::stream::Preface;
use antiphon::{HeldItem, Item, ItemId, Origin, Transcript};
use bytes::Bytes;

use super::Turn;
use super::admission::Admission;
use super::encode::{self, Sources};
use super::report::Report;
use super::resolve::Incoming;
use super::retry::{CutAttempts, PriorInput};
use super::start::Target;
use super::view::View;
use crate::error::ApiError;
use crate::request::check_choice_is_there;
use crate::settings::Faults;
use crate::upstream::Upstream;

/// A turn that is ready to send.
pub(super) struct Plan {
    /// The stored items, followed by the new items of the input.
    pub(super) transcript: Transcript,
    /// The new items of the input, which the commit stores.
    pub(super) fresh: Vec<HeldItem>,
    /// The input of the upstream request.
    pub(super) prompt: Prompt,
    /// The model that answers, as the origin of the output items.
    pub(super) origin: Origin,
    /// The items that were dropped or repaired.
    pub(super) report: Report,
    /// The compaction item at the start of the response.
    pub(super) preface: Option<Preface>,
    admitted: Admitted,
}

/// Facts about the input items after they were added to the transcript.
struct Admitted {
    /// The number of stored items before them.
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
    pub(super) fn of_summary(&self, prompt: Prompt, report: Report) -> Self {
        let admitted = Admitted {
            held: 0,
            sources: Vec::new(),
            made_with: HashMap::new(),
            report: report.clone(),
            asked_again: Vec::new(),
        };
        let (transcript, origin) = (self.transcript.clone(), self.origin.clone());
        Self { transcript, fresh: Vec::new(), prompt, origin, report, preface: None, admitted }
    }

    /// Reports that earlier attempts at the same request were cut short.
    pub(super) fn follows(&mut self, cut: &CutAttempts) {
        self.report.follows(cut);
        self.admitted.report.follows(cut);
    }
}

impl Turn<'_> {
    /// Reconciles the input with the stored items and repairs the result.
    ///
    /// With [`Faults::Reject`], an input that a provider would reject fails here. A new output for
    /// an unknown call always fails.
    pub(super) fn plan(
        &self,
        held: Transcript,
        incoming: Vec<Incoming>,
        upstream: Upstream<'_>,
    ) -> Result<Plan, ApiError> {
        self.plan_after(held, incoming, None, upstream)
    }

    /// Like [`Self::plan`], for a request whose earlier attempt left its input in the conversation.
    pub(super) fn plan_after(
        &self,
        held: Transcript,
        incoming: Vec<Incoming>,
        prior: Option<&PriorInput>,
        upstream: Upstream<'_>,
    ) -> Result<Plan, ApiError> {
        let strict = self.gateway.settings.faults == Faults::Reject;
        let key = self.gateway.fingerprint_key;
        let origin = upstream.origin(&self.request.model);
        let mut admission = match prior {
            Some(prior) => Admission::again(held, incoming, prior, key, strict),
            None => Admission::new(held, incoming, key, strict),
        };
        admission.admit_all()?;
        let Admission { transcript, sources, report, held, made_with, .. } = admission;
        let report = report.of_request(&self.caller.request_id);
        let made_with = known_reasoning(&transcript, made_with);
        let asked_again = prior.map_or_else(Vec::new, |prior| prior.words(&transcript));
        let admitted = Admitted { held, sources, made_with, report, asked_again };
        let (prompt, report) =
            self.prompt_of(&transcript, &admitted, Target::new(&origin, upstream))?;
        let fresh = transcript.items()[held..].to_vec();
        Ok(Plan { transcript, fresh, prompt, origin, report, preface: None, admitted })
    }

    /// Replaces the history in the plan with this compaction. `usage` is the cost of creating it.
    pub(super) fn compacted(
        &self,
        plan: &mut Plan,
        compaction: Item,
        usage: Option<String>,
        upstream: Upstream<'_>,
    ) -> Result<(), ApiError> {
        let id = compaction.head().id.clone().expect("it was issued with an id");
        let (key, origin) = (self.gateway.fingerprint_key, plan.origin.clone());
        let mut transcript = plan.transcript.clone();
        transcript.push(HeldItem::new(id, &compaction, key, Some(origin)));
        let target = Target::new(&plan.origin, upstream);
        let prompted = self.prompt_of(&transcript, &plan.admitted, target)?;
        (plan.prompt, plan.report) = prompted;
        plan.preface = Some(Preface::new(compaction, usage));
        Ok(())
    }

    /// Plans again after the upstream failed to read its own compaction: the prompt then contains
    /// the items that the compaction replaced.
    pub(super) fn expanded(&self, plan: &mut Plan, upstream: Upstream<'_>) -> Result<(), ApiError> {
        let target = Target { origin: &plan.origin, upstream, reads_its_own: false };
        let prompted = self.prompt_of(&plan.transcript, &plan.admitted, target)?;
        (plan.prompt, plan.report) = prompted;
        Ok(())
    }

    /// Builds the prompt for a transcript, and the report of dropped and repaired items.
    fn prompt_of(
        &self,
        transcript: &Transcript,
        admitted: &Admitted,
        target: Target<'_>,
    ) -> Result<(Prompt, Report), ApiError> {
        let Target { origin, upstream, .. } = target;
        let strict = self.gateway.settings.faults == Faults::Reject;
        let (source, mut report) = (|at| admitted.source(at), admitted.report.clone());
        let started = admitted.held + admitted.sources.len();
        let start = self.start(transcript, started, target, source, &mut report)?;
        let asked_again = (&admitted.asked_again[..], admitted.held..started);
        let mut view = View::of(transcript, start.as_ref(), asked_again, source, report);
        if !self.is_compacted_there(upstream, origin) {
            view.leave_trigger();
        }
        view.leave_unusable_reasoning(origin, upstream.api(), strict)?;
        let (view, mut report) = view.mended(strict, admitted.made_with.clone())?;
        if view.is_empty() && !self.request.is_prompted() {
            return Err(ApiError::MissingInput);
        }
        check_choice_is_there(&self.request.object(), &view)?;
        let prompt = self.prompt(view, upstream, origin, &mut report)?;
        Ok((prompt, report))
    }

    /// Encodes the items for the upstream. The report lists all that its API cannot carry.
    pub(super) fn prompt(
        &self,
        view: Vec<Item>,
        upstream: Upstream<'_>,
        origin: &Origin,
        report: &mut Report,
    ) -> Result<Prompt, ApiError> {
        let encoded = match upstream.api().encoder() {
            None => None,
            Some(encode) => Some(self.translated(encode, &view, origin, report)?),
        };
        Ok(Prompt { view, encoded })
    }

    fn translated(
        &self,
        encode: Encoder,
        view: &[Item],
        origin: &Origin,
        report: &mut Report,
    ) -> Result<Bytes, ApiError> {
        let encoded = encode::translated(encode, self.request, view, origin)?;
        if encoded.omissions.is_empty() {
            return Ok(encoded.body);
        }
        let sources = Sources::of(&self.request.input);
        for omission in &encoded.omissions {
            match &omission.place {
                RequestPath::Field(path) => report.adapted_field(path, &omission.message),
                RequestPath::Item(at, _) => {
                    let source = sources.position(&view[*at]);
                    let message = encode::message_of(&omission.message, *at, &view[*at], source);
                    report.adapted_item(source, &view[*at], &message);
                }
            }
        }
        Ok(encoded.body)
    }
}

/// Pairs items with the reasoning items that they need. The transcript, including deleted items,
/// takes precedence over the pairs from the request.
fn known_reasoning(
    transcript: &Transcript,
    mut incoming: HashMap<ItemId, ItemId>,
) -> HashMap<ItemId, ItemId> {
    let held = transcript.items().iter().map(|item| (&item.head, Some(&item.id)));
    incoming.extend(made_with(held));
    incoming
}
