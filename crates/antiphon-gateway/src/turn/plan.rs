//! What of the input is new, and what the model is to be given.

use std::collections::HashMap;

use antiphon::dialect::{Dialect, Place};
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
use crate::request::{check_choice_is_there, nothing_to_say};
use crate::settings::Faults;
use crate::upstream::Upstream;

/// A turn that is ready to be sent.
pub(super) struct Plan {
    /// What is held, and behind it the fresh input.
    pub(super) transcript: Transcript,
    /// The fresh input, to be kept.
    pub(super) fresh: Vec<HeldItem>,
    /// What the model is given.
    pub(super) prompt: Prompt,
    /// Who will answer.
    pub(super) origin: Origin,
    /// What was left out and mended.
    pub(super) report: Report,
    /// The compaction that the response begins with.
    pub(super) preface: Option<Preface>,
    admitted: Admitted,
}

/// What is known of the input once it is in the transcript.
struct Admitted {
    /// How many items were held before it.
    held: usize,
    /// For each item of it that was fresh its position in the input.
    sources: Vec<usize>,
    /// Which reasoning items were made with.
    made_with: HashMap<ItemId, ItemId>,
    /// What was left out of it.
    report: Report,
    /// The positions of items that an earlier attempt at the request stored, which the model is
    /// asked again.
    asked_again: Vec<usize>,
}

impl Admitted {
    /// Where in the input the item at this position of the transcript came from.
    fn source(&self, at: usize) -> Option<usize> {
        self.sources.get(at.checked_sub(self.held)?).copied()
    }
}

/// What the model is given.
pub(super) struct Prompt {
    /// As items.
    pub(super) view: Vec<Item>,
    /// As a request, where the upstream does not speak the Responses API.
    pub(super) encoded: Option<Bytes>,
}

impl Plan {
    /// The plan of a request that is to sum this one up, of which nothing is kept.
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

    /// Earlier attempts at the same request were cut short.
    pub(super) fn follows(&mut self, cut: &CutAttempts) {
        self.report.follows(cut);
        self.admitted.report.follows(cut);
    }
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
        self.plan_after(held, incoming, None, upstream)
    }

    /// The same for a request of which an earlier attempt left its input in the conversation.
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

    /// The plan of the same turn with a history that this compaction stands for. `usage`: what it
    /// took to make it.
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

    /// The plan of the same turn without what only the upstream could read, and cannot any more.
    pub(super) fn expanded(&self, plan: &mut Plan, upstream: Upstream<'_>) -> Result<(), ApiError> {
        let target = Target { origin: &plan.origin, upstream, reads_its_own: false };
        let prompted = self.prompt_of(&plan.transcript, &plan.admitted, target)?;
        (plan.prompt, plan.report) = prompted;
        Ok(())
    }

    /// What the model is given of a transcript, and what was left out and mended on the way.
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
            return Err(nothing_to_say());
        }
        check_choice_is_there(&self.request.object(), &view)?;
        let prompt = self.prompt(view, upstream, origin, &mut report)?;
        Ok((prompt, report))
    }

    /// The items as the upstream is given them. What its API cannot carry is reported.
    pub(super) fn prompt(
        &self,
        view: Vec<Item>,
        upstream: Upstream<'_>,
        origin: &Origin,
        report: &mut Report,
    ) -> Result<Prompt, ApiError> {
        let encoded = match upstream.api() {
            Dialect::Responses => None,
            api => Some(self.translated(api, &view, origin, report)?),
        };
        Ok(Prompt { view, encoded })
    }

    fn translated(
        &self,
        api: Dialect,
        view: &[Item],
        origin: &Origin,
        report: &mut Report,
    ) -> Result<Bytes, ApiError> {
        let encoded = encode::translated(api, self.request, view, origin)?;
        if encoded.omissions.is_empty() {
            return Ok(encoded.body);
        }
        let sources = Sources::of(&self.request.input);
        for omission in &encoded.omissions {
            match &omission.place {
                Place::Field(path) => report.adapted_field(path, &omission.message),
                Place::Item(at, _) => {
                    let source = sources.position(&view[*at]);
                    let message = encode::message_of(&omission.message, *at, &view[*at], source);
                    report.adapted_item(source, &view[*at], &message);
                }
            }
        }
        Ok(encoded.body)
    }
}

/// Which reasoning items were made with: what this transcript holds, deleted items included, says
/// more than what a caller sent.
pub(super) fn known_reasoning(
    transcript: &Transcript,
    mut incoming: HashMap<ItemId, ItemId>,
) -> HashMap<ItemId, ItemId> {
    let held = transcript.items().iter().map(|item| (&item.head, Some(&item.id)));
    incoming.extend(made_with(held));
    incoming
}
