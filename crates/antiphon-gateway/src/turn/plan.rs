//! What of the input is new, and what the model is to be given.

use std::collections::HashMap;

use antiphon::dialect::{Dialect, Place};
use antiphon::repair::made_with;
use antiphon::{HeldItem, Item, ItemId, Origin, Transcript};
use bytes::Bytes;

use super::Turn;
use super::admission::Admission;
use super::encode::{self, Sources};
use super::report::Report;
use super::resolve::Incoming;
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
}

/// What the model is given.
pub(super) struct Prompt {
    /// As items.
    pub(super) view: Vec<Item>,
    /// As a request, where the upstream does not speak the Responses API.
    pub(super) encoded: Option<Bytes>,
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
        let Admission { transcript, sources, report, held, made_with, .. } = admission;
        let mut view = View::of(&transcript, &sources, held, report);
        view.leave_unusable_reasoning(&origin, upstream.api(), strict)?;
        let (view, mut report) = view.mended(strict, known_reasoning(&transcript, made_with))?;
        if view.is_empty() && !self.request.is_prompted() {
            return Err(nothing_to_say());
        }
        check_choice_is_there(&self.request.object(), &view)?;
        let prompt = self.prompt(view, upstream, &origin, &mut report)?;
        let fresh = transcript.items()[held..].to_vec();
        Ok(Plan { transcript, fresh, prompt, origin, report })
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
fn known_reasoning(
    transcript: &Transcript,
    mut incoming: HashMap<ItemId, ItemId>,
) -> HashMap<ItemId, ItemId> {
    let held = transcript.items().iter().map(|item| (&item.head, Some(&item.id)));
    incoming.extend(made_with(held));
    incoming
}
