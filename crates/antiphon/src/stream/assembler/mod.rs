//! The one place where output items and events are made.

mod anew;
mod beginning;
mod ending;
mod final_output;
mod identity;
mod length;
mod note;
mod numbering;
mod output;
mod permission;
mod preface;
mod routes;
mod suppressed;
mod telling;

use bytes::Bytes;

use self::beginning::Beginning;
pub use self::ending::{Ending, Failure, Finished, Output, Status};
use self::identity::Identity;
pub use self::identity::Taken;
pub use self::note::Note;
use self::numbering::Numbering;
pub use self::permission::Permission;
pub use self::preface::Preface;
use self::routes::Routes;
use self::suppressed::Suppressed;
pub(crate) use self::telling::Spoken;
use super::emitter::{Emitter, Event};
use super::envelope::Envelope;
use super::fields::is_one_line;
use super::form::Form;
use super::heard::Heard;
use super::obfuscation::Obfuscation;
use super::output_item::OutputItem;
use crate::item::IdSource;
use crate::json::Object;

/// Makes one well-formed stream of Responses events, and the response that it tells of, from
/// whatever an upstream sends.
///
/// ```text
///   Awaited ── first event / start ──> Open ── terminal event / fail / cancel ──> Ended
/// ```
///
/// Guarantees:
/// - `response.created` first; sequence numbers from 0 without gaps; one terminal event, given by
///   [`Assembler::finish`], so that it can be held back until the turn is committed.
/// - Per item one `output_item.added`, its parts and texts, one `output_item.done`, all with one id
///   and index; every item ends, whatever becomes of the upstream. The deltas of a text make up
///   what its `done` says, unless the upstream contradicts itself: then its last word counts.
/// - Per `call_id` one item, however many times it is announced; another call under the same
///   `call_id` is an item of its own. Ids that are empty, malformed or taken are replaced before
///   their first event leaves.
/// - What the upstream says in this form is passed on as the bytes that came.
///
/// - A call that the request's `tool_choice` rules out is suppressed, and noted; so is a second call where
///   it allows one, and that a call is missing where it demands one.
///
/// What is lost: events of an item that is neither announced nor ended nor in the finished response,
/// where they do not make one by themselves. A text makes a message or reasoning; arguments without
/// a name make no call.
pub struct Assembler {
    envelope: Envelope,
    identity: Identity,
    emitter: Emitter,
    items: Vec<OutputItem>,
    routes: Routes,
    /// Events that came before their items were announced.
    early: Vec<Bytes>,
    permission: Permission,
    suppressed: Suppressed,
    preface: Preface,
    beginning: Beginning,
    numbering: Numbering,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Awaited,
    Open,
    Ended(Ending),
}

impl Assembler {
    /// An assembler for the response that `envelope` describes. `taken` are the ids that the
    /// conversation holds already; `encrypted` says whether the caller asked for encrypted
    /// reasoning.
    pub fn new(
        envelope: Envelope,
        taken: Taken,
        ids: Box<dyn IdSource + Send>,
        encrypted: bool,
    ) -> Self {
        Self {
            envelope,
            identity: Identity::new(taken, ids),
            emitter: Emitter::new(encrypted),
            items: Vec::new(),
            routes: Routes::default(),
            early: Vec::new(),
            permission: Permission::default(),
            suppressed: Suppressed::default(),
            preface: Preface::default(),
            beginning: Beginning::default(),
            numbering: Numbering::default(),
            phase: Phase::Awaited,
        }
    }

    /// The same assembler, with the events named as this form has them.
    #[must_use]
    pub fn in_form(mut self, form: Form) -> Self {
        self.emitter.form = form;
        self
    }

    /// The same assembler, which does this to the lengths of its deltas.
    #[must_use]
    pub fn obfuscating(mut self, obfuscation: Obfuscation) -> Self {
        self.emitter.obfuscation = obfuscation;
        self
    }

    /// The same assembler, which lets no calls through but these.
    #[must_use]
    pub fn permitting(self, permission: Permission) -> Self {
        Self { permission, ..self }
    }

    /// The next event for the client. Changed by [`hear`](Self::hear),
    /// [`hear_whole`](Self::hear_whole) and [`fail`](Self::fail).
    pub fn next_event(&mut self) -> Option<Event> {
        self.emitter.next()
    }

    /// The response's id as it was told; `None` before the response has begun.
    pub fn response_id(&self) -> Option<String> {
        match self.phase {
            Phase::Awaited => None,
            _ => serde_json::from_str(self.envelope.get("id")?).ok(),
        }
    }

    /// Whether the upstream has ended the response, or failed.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    /// Takes one event of the upstream's Responses stream as JSON. Data that is no JSON object is a
    /// failure of the upstream; empty data, and an object without a `type`, is no event, a whole response excepted. What comes
    /// after the end is not read, and an event that comes a second time is noted and left out.
    pub fn hear(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        if self.has_ended() || data.trim_ascii().is_empty() {
            return Ok(());
        }
        let object = Object::parse(data)?;
        let number = object.get("sequence_number").and_then(|number| number.parse().ok());
        if number.is_some_and(|number| self.numbering.is_repeated(number, data)) {
            self.note_repeated_event();
            return Ok(());
        }
        self.hear_object(data, &object);
        Ok(())
    }

    fn hear_object(&mut self, data: &Bytes, object: &Object<'_>) {
        match object.string("type") {
            Some(kind) if is_event_type(&kind) => self.take(&Heard::new(&kind, data, object)),
            None if object.string("object").as_deref() == Some("response") => {
                self.take_whole(object);
            }
            None if object.present("error").is_some() => self.fail(Failure::reported(object)),
            _ => {}
        }
    }

    /// Takes a whole response object, as an upstream answers when it does not stream. An object
    /// that is no response is a failure of the upstream.
    pub fn hear_whole(&mut self, data: &Bytes) -> Result<(), serde_json::Error> {
        self.take_whole(&Object::parse(data)?);
        Ok(())
    }

    fn take_whole(&mut self, response: &Object<'_>) {
        let is_response = response.present("output").is_some();
        let status = match response.string("status") {
            Some(status) => Status::of_ended(&status),
            None => is_response.then_some(Status::Completed),
        };
        self.open(Some(response).filter(|_| is_response));
        self.end(status.unwrap_or(Status::Failed), response);
    }

    /// Ends the response because the upstream will not: open items are closed, the response is
    /// failed.
    pub fn fail(&mut self, failure: Failure) {
        if !self.has_ended() {
            self.open(None);
            self.close_items(Status::Failed);
            self.phase = Phase::Ended(Ending::failed(failure));
        }
    }

    fn take(&mut self, heard: &Heard<'_>) {
        match heard.kind {
            "response.created" | "response.queued" | "response.in_progress" => {
                self.open(heard.nested("response").as_ref());
            }
            "response.completed" | "response.done" => self.ended(Status::Completed, heard),
            "response.incomplete" => self.ended(Status::Incomplete, heard),
            "response.failed" | "response.cancelled" => self.ended(Status::Failed, heard),
            "error" | "response.error" => self.fail(Failure::reported(heard.object)),
            _ => {
                self.open(None);
                self.hear_output(heard);
            }
        }
    }

    /// Ends the response because its caller wants no more of it: open items are closed, and nothing
    /// of the output stays.
    pub fn cancel(&mut self) {
        if !self.has_ended() {
            self.open(None);
            self.close_items(Status::Cancelled);
            self.items.clear();
            self.phase = Phase::Ended(Ending::cancelled());
        }
    }

    /// Emits the events that the response begins by, once.
    fn open(&mut self, reported: Option<&Object<'_>>) {
        if let Some(reported) = reported {
            self.envelope.adopt(reported);
        }
        if matches!(self.phase, Phase::Awaited) {
            self.phase = Phase::Open;
            self.envelope.tell_id();
            let response = self.envelope.render(std::iter::empty());
            for kind in self.beginning.untold() {
                self.emitter.emit(kind, &[("response", &response)]);
            }
        }
    }

    /// The upstream's terminal event. What its response says of how it ended counts more than the
    /// event's type: some servers tell of every end as completed.
    fn ended(&mut self, status: Status, heard: &Heard<'_>) {
        let response = heard.nested("response").unwrap_or_default();
        let reported = response.string("status");
        let reported = reported.as_deref().and_then(Status::of_ended);
        self.open(Some(&response));
        self.end(reported.unwrap_or(status), &response);
    }

    fn end(&mut self, status: Status, response: &Object<'_>) {
        if self.has_ended() {
            return;
        }
        if status != Status::Failed {
            self.tell_preface();
        }
        self.hear_final_output(response, status.of_items());
        self.close_items(status);
        if status == Status::Completed {
            self.note_missing_call();
        }
        self.phase = Phase::Ended(Ending::reported(status, response));
    }

    fn close_items(&mut self, status: Status) {
        for item in &mut self.items {
            item.close(status.of_items(), &mut self.emitter);
        }
    }
}

/// Types stand in a line of their own in an event stream.
fn is_event_type(kind: &str) -> bool {
    !kind.is_empty() && is_one_line(kind.as_bytes())
}
