//! One tool call, from its first part to its last.

use super::input::{self, Level};
use super::item_emitter::ItemEmitter;
use super::part::{Part, inside};
use super::tool::{Form, Tool, ToolKind};
use crate::dialect::RequestContext;
use crate::json::quote;

/// A tool call.
///
/// ```text
///   Unnamed ──┬── tool-input-start ──> Begun ─────┬── tool-call, or end of the step ──> Ended
///      │      ├── of a custom tool ──> Undecided ─┤
///      │      └── provider tool ─────> Provided ──┴── the same, of a provider tool ─> Ran
///      ├── tool-call ──> Ended, or Ran
///      └── end of the step ──> Unknown
///   Ended ── result ──> Answered
/// ```
///
/// Guarantee: the call becomes one item, even if its parts are mixed, missing or repeated. The item
/// has the final input from `tool-call`; `tool-input-end` does not contain it. An ended call
/// ignores later parts. A call without a `tool-call` ends with the input from its deltas.
pub(super) struct Call {
    /// The `toolCallId`.
    id: String,
    state: State,
}

enum State {
    /// The tool is not known yet; the deltas of its input are stored. In this and the next states,
    /// they are the inside of a JSON string.
    Unnamed { pieces: String },
    /// The item has begun.
    Begun { index: u64, name: String, form: Form, streamed: String },
    /// The call is of a custom tool. The final input shows the encoding of its deltas.
    Undecided { name: String, streamed: String },
    /// The provider runs the tool. The item is emitted when it is complete.
    Provided { name: String, streamed: String },
    /// The item has ended. `input` is the raw value in the item.
    Ended { index: u64, name: String, form: Form, input: String },
    /// The provider has run the tool.
    Ran,
    /// The output has been emitted.
    Answered,
    /// The step ended without the name of the tool; nothing was emitted.
    Unknown,
}

/// The party that runs the tool of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// The client, which receives the call.
    Client,
    /// The provider of the model.
    Provider,
    /// Unknown, because the tool is unknown.
    Unknown,
}

impl Call {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), state: State::Unnamed { pieces: String::new() } }
    }

    /// Applies a `tool-input-start`, which names the tool.
    pub(super) fn start(
        &mut self,
        start: Part<'_>,
        context: &RequestContext,
        emitter: &mut ItemEmitter<'_>,
    ) {
        let (State::Unnamed { pieces }, Some(tool)) =
            (&mut self.state, Tool::from_input_start(start, context))
        else {
            return;
        };
        let (name, streamed) = (tool.name, std::mem::take(pieces));
        self.state = match tool.kind {
            ToolKind::Provided => State::Provided { name, streamed },
            ToolKind::Undecided => State::Undecided { name, streamed },
            ToolKind::Client(form) => {
                let index = form.begin(&self.id, &name, emitter);
                emitter.delta(index, form.spoken(), 0, &format!("\"{streamed}\""));
                State::Begun { index, name, form, streamed }
            }
        };
    }

    /// Applies a `tool-input-delta`. `piece` is a raw JSON string.
    pub(super) fn delta(&mut self, piece: &str, emitter: &mut ItemEmitter<'_>) {
        let stored = match &mut self.state {
            State::Unnamed { pieces } => pieces,
            State::Undecided { streamed, .. } | State::Provided { streamed, .. } => streamed,
            State::Begun { index, form, streamed, .. } => {
                emitter.delta(*index, form.spoken(), 0, piece);
                streamed
            }
            State::Ended { .. } | State::Ran | State::Answered | State::Unknown => return,
        };
        stored.push_str(inside(piece));
    }

    /// Completes the call with a `tool-call`, or with a result that contains tool and input.
    pub(super) fn complete(
        &mut self,
        call: Part<'_>,
        context: &RequestContext,
        level: Level,
        emitter: &mut ItemEmitter<'_>,
    ) {
        let input = call.get("input");
        self.state = match self.take_state() {
            State::Unnamed { pieces } => match Tool::from_call(call, context, level) {
                None => State::Unnamed { pieces },
                Some(Tool { name, kind }) => {
                    self.complete_unannounced(call, name, &kind, &pieces, emitter)
                }
            },
            State::Begun { index, name, form, streamed } => {
                note_other_name(call, &name, emitter);
                self.end(index, name, form, &form.input(input, &streamed), emitter)
            }
            State::Undecided { name, streamed } => {
                self.complete_custom(name, input, &streamed, emitter)
            }
            State::Provided { .. } => complete_provided(call, emitter),
            State::Ended { index, name, form, input: ended } => {
                note_other_call(call, &self.id, (&name, form, &ended), emitter);
                State::Ended { index, name, form, input: ended }
            }
            ended @ (State::Ran | State::Answered | State::Unknown) => ended,
        };
    }

    /// Ends the call with its current input, because the step is over.
    pub(super) fn close(&mut self, emitter: &mut ItemEmitter<'_>) {
        self.state = match self.take_state() {
            State::Unnamed { .. } => {
                emitter.assembler.leave_out("the input of a call that names no tool");
                State::Unknown
            }
            State::Begun { index, name, form, streamed } => {
                self.end(index, name, form, &form.input(None, &streamed), emitter)
            }
            State::Undecided { name, streamed } => {
                self.complete_custom(name, None, &streamed, emitter)
            }
            State::Provided { name, streamed } => {
                let content = provided_call(&self.id, &name, &format!("\"{streamed}\""));
                emitter.extension("tool-call", &content);
                State::Ran
            }
            ended => ended,
        };
    }

    /// Completes the call before its output, if the tool is known.
    pub(super) fn complete_before_output(&mut self, emitter: &mut ItemEmitter<'_>) {
        if self.runner() != Runner::Unknown {
            self.close(emitter);
        }
    }

    /// Reports an unfinished call at the end of the response, if nothing was emitted for it.
    pub(super) fn leave_out(&self, emitter: &mut ItemEmitter<'_>) {
        if let State::Undecided { name, .. } | State::Provided { name, .. } = &self.state {
            emitter.assembler.leave_out(format!("an unfinished call of the tool '{name}'"));
        }
    }

    /// Emits the raw output, once.
    pub(super) fn emit_output(&mut self, output: &str, emitter: &mut ItemEmitter<'_>) {
        if let State::Ended { index, form, .. } = &self.state {
            if let Some(call_id) = emitter.assembler.call_id(*index).map(str::to_owned) {
                emitter.complete_item(&form.output(&call_id, output));
            }
            self.state = State::Answered;
        }
    }

    /// The party that runs the tool.
    pub(super) fn runner(&self) -> Runner {
        match self.state {
            State::Unnamed { .. } | State::Unknown => Runner::Unknown,
            State::Provided { .. } | State::Ran => Runner::Provider,
            State::Begun { .. }
            | State::Undecided { .. }
            | State::Ended { .. }
            | State::Answered => Runner::Client,
        }
    }

    fn complete_unannounced(
        &self,
        call: Part<'_>,
        name: String,
        kind: &ToolKind,
        pieces: &str,
        emitter: &mut ItemEmitter<'_>,
    ) -> State {
        let form = match kind {
            ToolKind::Provided => return complete_provided(call, emitter),
            ToolKind::Undecided => Form::Custom,
            ToolKind::Client(form) => *form,
        };
        self.emit(name, form, &form.input(call.get("input"), pieces), emitter)
    }

    /// Completes a call of a custom tool. Its deltas are the text itself or JSON that contains it.
    fn complete_custom(
        &self,
        name: String,
        input: Option<&str>,
        streamed: &str,
        emitter: &mut ItemEmitter<'_>,
    ) -> State {
        let streamed = format!("\"{streamed}\"");
        self.emit(name, Form::Custom, &input::text(input.or(Some(&streamed)), ""), emitter)
    }

    fn emit(&self, name: String, form: Form, input: &str, emitter: &mut ItemEmitter<'_>) -> State {
        let index = form.begin(&self.id, &name, emitter);
        self.end(index, name, form, input, emitter)
    }

    fn end(
        &self,
        index: u64,
        name: String,
        form: Form,
        input: &str,
        emitter: &mut ItemEmitter<'_>,
    ) -> State {
        let (id, quoted) = (quote(&self.id), quote(&name));
        let mut item = form.item(&id, &quoted);
        item.set(form.field(), input);
        emitter.end(index, &item);
        State::Ended { index, name, form, input: input.to_owned() }
    }

    fn take_state(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Unknown)
    }
}

fn complete_provided(call: Part<'_>, emitter: &mut ItemEmitter<'_>) -> State {
    let is_call = call.kind().as_deref() == Some("tool-call");
    let name = call.string("toolName").unwrap_or_default();
    let content = match is_call {
        true => call.to_text(),
        false => provided_call(&call.id(), &name, call.get("input").unwrap_or("{}")),
    };
    emitter.extension("tool-call", &content);
    State::Ran
}

/// A `tool-call` part for a provider tool, with this raw input.
fn provided_call(id: &str, name: &str, input: &str) -> String {
    let (id, name) = (quote(id), quote(name));
    let call = format!(r#""toolCallId":{id},"toolName":{name},"input":{input}"#);
    format!(r#"{{"type":"tool-call",{call},"providerExecuted":true}}"#)
}

/// Reports a different name. An item keeps the name that it was announced with.
fn note_other_name(call: Part<'_>, announced: &str, emitter: &mut ItemEmitter<'_>) {
    if let Some(name) = call.string("toolName").filter(|name| *name != announced) {
        emitter
            .assembler
            .leave_out(format!("the name '{name}' for a call of the tool '{announced}'"));
    }
}

/// Reports a repeated `tool-call` of the same step if it differs from the first one.
fn note_other_call(
    call: Part<'_>,
    id: &str,
    (name, form, input): (&str, Form, &str),
    emitter: &mut ItemEmitter<'_>,
) {
    let streamed = inside(input);
    let is_other = call.string("toolName").is_some_and(|other| other != name)
        || call.get("input").is_some_and(|other| form.input(Some(other), streamed) != input);
    if is_other {
        emitter.assembler.leave_out(format!("another tool-call '{id}' of the same step"));
    }
}
