//! The only code that creates output items and their events.

mod decoder_input;
mod ending;
mod final_output;
mod identity;
mod note;
mod output;
mod output_items;
mod permission;
mod preface;
mod repeats;
mod routes;
mod start;

use bytes::Bytes;

use self::identity::Identity;
use self::output::OutputBuilder;
use self::repeats::RepeatDetector;
use self::start::InitialEvents;
use super::emitter::{Emitter, Event, Form};
use super::envelope::Envelope;
use super::fields::is_one_line;
use super::obfuscation::Obfuscation;
use super::output_item::OutputItem;
use super::reasoning_form::ReasoningForm;
use super::upstream_event::UpstreamEvent;
use crate::item::{IdSource, Item};
use crate::json::Object;

pub(crate) use self::decoder_input::DeltaKind;
pub use self::ending::{Ending, Failure, Finished, Output, Status};
pub use self::identity::UsedIds;
pub use self::note::Note;
pub use self::permission::Permission;
pub use self::preface::Preface;

/// Turns any upstream stream into one well-formed stream of Responses events and the final response
/// object.
///
/// ```text
///   Awaited ── first event / start ──> Open ── terminal event / fail / cancel ──> Ended
/// ```
///
/// Guarantees:
/// - `response.created` is first. Sequence numbers start at 0 and have no gaps. There is one
///   terminal event, which [`Assembler::finish`] returns, so the client gets it only after the turn
///   is committed.
/// - Each item has one `output_item.added`, then its parts and texts, then one `output_item.done`,
///   all with the same id and index. Every item ends, even if the upstream breaks off. The deltas
///   of a text add up to the text of its `done`. If the upstream contradicts itself, its last
///   version counts.
/// - Each `call_id` has one item, however often the upstream announces it. A different call with
///   the same `call_id` is a separate item. Ids that are empty, malformed or already used in the
///   conversation are replaced before their first event is sent.
/// - An upstream event that is already correct is forwarded byte for byte.
/// - A call that the request's `tool_choice` forbids is suppressed, and so is a second call if the
///   request allows one. The notes record both, and also a missing call that the request requires.
///
/// # Limits
/// Events of an item that is never announced, never ends and is not in the finished response are
/// lost, unless they are enough to create the item. A text is enough for a message or for
/// reasoning; arguments without a name are not enough for a call.
pub struct Assembler {
    envelope: Envelope,
    output: OutputBuilder,
    reasoning_form: ReasoningForm,
    initial_events: InitialEvents,
    repeats: RepeatDetector,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Awaited,
    Open,
    Ended(Box<Ending>),
}

impl Assembler {
    /// Creates the assembler of the response that `envelope` describes. `taken` holds the ids that
    /// the conversation already uses. `encrypted`: the request asked for encrypted reasoning.
    pub fn new(
        envelope: Envelope,
        taken: UsedIds,
        ids: Box<dyn IdSource + Send>,
        encrypted: bool,
    ) -> Self {
        Self {
            envelope,
            output: OutputBuilder::new(Emitter::new(encrypted), Identity::new(taken, ids)),
            reasoning_form: ReasoningForm::default(),
            initial_events: InitialEvents::default(),
            repeats: RepeatDetector::default(),
            phase: Phase::Awaited,
        }
    }

    /// Names the events as this specification does.
    #[must_use]
    pub fn with_form(mut self, form: Form) -> Self {
        self.output.emitter.form = form;
        self
    }

    /// Shows the reasoning of upstreams with other APIs in this form.
    #[must_use]
    pub fn with_reasoning(self, reasoning_form: ReasoningForm) -> Self {
        Self { reasoning_form, ..self }
    }

    /// Keeps the form of the server, because its client sends the items back to it: they get no
    /// status of our own, and events of raw reasoning keep their names.
    #[must_use]
    pub fn keeping_form(mut self) -> Self {
        self.output.emitter.keeps_form = true;
        self
    }

    /// Pads the deltas, or removes their padding.
    #[must_use]
    pub fn with_obfuscation(mut self, obfuscation: Obfuscation) -> Self {
        self.output.emitter.obfuscation = obfuscation;
        self
    }

    /// Creates no event but the terminal one, for a client that gets only the response. The
    /// sequence number of that event has no meaning.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.output.emitter.is_silent = true;
        self
    }

    /// Suppresses the calls that `permission` forbids.
    #[must_use]
    pub fn with_permission(mut self, permission: Permission) -> Self {
        self.output.calls.permission = permission;
        self
    }

    /// Starts the response's output with an item.
    ///
    /// The item is emitted before the first output of the upstream, or at the end of a response
    /// that neither failed nor was cancelled. Until then, a failed upstream request can be retried.
    #[must_use]
    pub fn with_preface(mut self, preface: Preface) -> Self {
        self.output.preface = Some(Box::new(preface));
        self
    }

    /// Returns the next event for the client. [`apply_event`](Self::apply_event),
    /// [`apply_response`](Self::apply_response) and [`fail`](Self::fail) add events.
    pub fn next_event(&mut self) -> Option<Event> {
        self.output.emitter.next()
    }

    /// Returns all events that [`next_event`](Self::next_event) would return.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.output.emitter.take_all()
    }

    /// The response's id in its first event; `None` before that event.
    pub fn response_id(&self) -> Option<String> {
        match self.phase {
            Phase::Awaited => None,
            _ => serde_json::from_str(self.envelope.get("id")?).ok(),
        }
    }

    /// Whether the response has ended: the upstream ended it or failed, or it was cancelled.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Applies one event of the upstream's Responses stream, given as JSON. A whole response object
    /// is also accepted, and an object with an `error` but without a `type` fails the response.
    ///
    /// Empty data, any other object without a `type`, and everything after the end are ignored. A
    /// repeated event is dropped and noted. An error means that the data is not a JSON object: the
    /// upstream failed.
    pub fn apply_event(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        if self.has_ended() || data.trim_ascii().is_empty() {
            return Ok(());
        }
        let object = Object::parse(data)?;
        let number = object.get("sequence_number").and_then(|number| number.parse().ok());
        if number.is_some_and(|number| self.repeats.is_repeated(number, data)) {
            self.output.notes.count_repeated_event();
            return Ok(());
        }
        self.apply_object(data, &object);
        Ok(())
    }

    fn apply_object(&mut self, data: &Bytes, object: &Object<'_>) {
        match object.string("type") {
            Some(kind) if is_event_type(&kind) => {
                self.dispatch(&UpstreamEvent::new(&kind, data, object));
            }
            None if object.string("object").as_deref() == Some("response") => {
                self.apply_whole(object);
            }
            None if object.present("error").is_some() => self.fail(Failure::from_event(object)),
            _ => {}
        }
    }

    /// Applies a whole response object: the upstream's answer to a request that does not stream. An
    /// object that is not a response fails the response.
    pub fn apply_response(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        self.apply_whole(&Object::parse(data)?);
        Ok(())
    }

    fn apply_whole(&mut self, response: &Object<'_>) {
        let is_response = response.present("output").is_some();
        let status = match response.string("status") {
            Some(status) => Status::from_response(&status),
            None => is_response.then_some(Status::Completed),
        };
        self.open(Some(response).filter(|_| is_response));
        self.end(status.unwrap_or(Status::Failed), response);
    }

    /// Closes the open items and fails the response, because the upstream did not end it.
    pub fn fail(&mut self, failure: Failure) {
        if !self.has_ended() {
            self.open(None);
            self.output.close(Status::Failed.for_open_items());
            self.phase = Phase::Ended(Box::new(Ending::failed(failure)));
        }
    }

    fn dispatch(&mut self, event: &UpstreamEvent<'_>) {
        match event.kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.open(event.nested("response").as_ref());
            }
            "response.completed" | "response.done" => {
                self.apply_terminal_event(Status::Completed, event);
            }
            "response.incomplete" => self.apply_terminal_event(Status::Incomplete, event),
            "response.failed" | "response.cancelled" => {
                self.apply_terminal_event(Status::Failed, event);
            }
            "error" | "response.error" => self.fail(Failure::from_event(event.object)),
            _ => {
                self.open(None);
                self.output.apply(event);
            }
        }
    }

    /// Closes the open items and cancels the response. Its output is dropped.
    pub fn cancel(&mut self) {
        if !self.has_ended() {
            self.open(None);
            self.output.close(Status::Cancelled.for_open_items());
            self.output.discard();
            self.phase = Phase::Ended(Box::new(Ending::cancelled()));
        }
    }

    /// Emits the initial events, once.
    fn open(&mut self, reported: Option<&Object<'_>>) {
        if let Some(reported) = reported {
            self.envelope.copy_upstream_fields(reported);
        }
        if matches!(self.phase, Phase::Awaited) {
            self.phase = Phase::Open;
            self.envelope.fix_id();
            let response = match self.output.emitter.is_silent {
                true => String::new(),
                false => self.envelope.render(std::iter::empty()),
            };
            for kind in self.initial_events.remaining() {
                self.output.emitter.emit(kind, &[("response", &response)]);
            }
        }
    }

    /// Applies the upstream's terminal event. The response's `status` takes precedence over the
    /// event's type: some servers end every response with `response.completed`.
    fn apply_terminal_event(&mut self, status: Status, event: &UpstreamEvent<'_>) {
        let response = event.nested("response").unwrap_or_default();
        let reported = response.string("status");
        let reported = reported.as_deref().and_then(Status::from_response);
        self.open(Some(&response));
        self.end(reported.unwrap_or(status), &response);
    }

    fn end(&mut self, status: Status, response: &Object<'_>) {
        if self.has_ended() {
            return;
        }
        if status != Status::Failed {
            self.output.emit_preface();
        }
        self.output.apply_final_output(response, status.for_open_items());
        self.output.close(status.for_open_items());
        if status == Status::Completed {
            self.output.note_missing_call();
        }
        self.phase = Phase::Ended(Box::new(Ending::from_response(status, response)));
    }

    /// The output items so far. An open item is as in its announcement.
    pub fn output_items(&self) -> impl Iterator<Item = &Item> {
        self.output.items.iter().map(OutputItem::item)
    }

    /// Approximate number of bytes held in memory: items, and events that wait for their item.
    pub fn output_length(&self) -> usize {
        self.output.length()
    }

    /// Drops the output of an answer that is too long to hold. This emits no event: call
    /// [`fail`](Self::fail) next; the items are not closed.
    pub fn discard_output(&mut self) {
        self.output.discard();
    }
}

/// An event stream holds the type in a line of its own.
fn is_event_type(kind: &str) -> bool {
    !kind.is_empty() && is_one_line(kind.as_bytes())
}
