//! The events of a queued response.

use super::emitter::{Emitter, Event};
use super::envelope::Envelope;
use super::form::Form;

/// The initial events of a background response: it is created and queued, and later in progress.
pub(super) const INITIAL_EVENTS: [&str; 3] =
    ["response.created", "response.queued", "response.in_progress"];

/// Creates the first events of a background response, `response.created` and `response.queued`,
/// both with the status `queued`.
///
/// Sources: the provider's guide to background responses; the Open Responses specification,
/// `ResponseQueuedStreamingEvent`.
pub fn queued(mut envelope: Envelope, form: Form) -> [Event; 2] {
    envelope.set("status", r#""queued""#);
    let response = envelope.render(std::iter::empty());
    let mut emitter = Emitter::new(false);
    emitter.form = form;
    ["response.created", "response.queued"]
        .map(|kind| emitter.event(kind, &[("response", &response)]))
}
