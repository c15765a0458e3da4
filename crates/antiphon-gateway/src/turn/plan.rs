//! What of the input is new, and what the model is to be given.

use antiphon::{HeldItem, Item, Origin, Transcript};

use super::Turn;
use super::admission::Admission;
use super::report::Report;
use super::resolve::Incoming;
use super::view::View;
use crate::error::ApiError;
use crate::request::nothing_to_say;
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
        let Admission { transcript, sources, report, held, .. } = admission;
        let mut view = View::of(&transcript, &sources, held, report);
        view.leave_unusable_reasoning(&origin, strict)?;
        let (view, report) = view.mended(strict)?;
        if view.is_empty() && !self.request.is_prompted() {
            return Err(nothing_to_say());
        }
        let fresh = transcript.items()[held..].to_vec();
        Ok(Plan { transcript, fresh, view, origin, report })
    }
}
