//! A response that waits for its turn.

use super::emitter::{Emitter, Event};
use super::envelope::Envelope;
use super::form::Form;

/// The events by which a response begins that its caller does not wait for: it is created, queued,
/// and some time later in progress.
pub(super) const BEGINNING: [&str; 3] =
    ["response.created", "response.queued", "response.in_progress"];

/// The first events of a response that waits: `response.created` and `response.queued`, both with
/// the response as it stands, which is `queued`.
///
/// Source: the provider's guide to background responses; the Open Responses specification,
/// `ResponseQueuedStreamingEvent`.
pub fn queued(mut envelope: Envelope, form: Form) -> [Event; 2] {
    envelope.set("status", r#""queued""#);
    let response = envelope.render(std::iter::empty());
    let mut emitter = Emitter::new(false);
    emitter.form = form;
    ["response.created", "response.queued"]
        .map(|kind| emitter.event(kind, &[("response", &response)]))
}
