//! One call of a tool, from whichever of its parts comes first to the last.

use super::input::{self, Level};
use super::part::{Part, inside};
use super::teller::Teller;
use super::tool::{Form, Tool, ToolKind};
use crate::dialect::Asked;
use crate::json::quote;

/// A call.
///
/// ```text
///   Unnamed ──┬── tool-input-start ──> Told ──────┬── tool-call, or the step's end ──> Made ── result ──> Answered
///      │      ├── of a custom tool ──> Undecided ─┤
///      │      └── the provider's ────> Provided ──┴── the same, of the provider's ───> Ran
///      ├── tool-call ──> Made, or Ran
///      └── the step's end ──> Unknown
/// ```
///
/// Guarantee: one item, however its parts are mixed, left out or repeated, with the final input, which
/// `tool-call` gives: `tool-input-end` says nothing of it. What has ended hears nothing more. A call
/// whose `tool-call` never comes ends with the input that its pieces make up.
pub(super) struct Call {
    /// Its `toolCallId`.
    id: String,
    state: State,
}

enum State {
    /// The tool is not known yet: the pieces of its input are kept. All pieces in these states are
    /// the inside of a JSON string.
    Unnamed { pieces: String },
    /// Its item has begun.
    Told { index: u64, name: String, form: Form, said: String },
    /// It calls a custom tool, and how its pieces are encoded is shown by the final input.
    Undecided { name: String, said: String },
    /// The provider runs it: its item is told whole.
    Provided { name: String, said: String },
    /// Its item has ended. `input`: raw, as the item has it.
    Made { index: u64, name: String, form: Form, input: String },
    /// The provider has run it.
    Ran,
    /// Its output was told.
    Answered,
    /// It never named its tool, and nothing was told of it.
    Unknown,
}

/// Who runs the tool of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// The client, which is given the call.
    Client,
    /// The model's provider.
    Provider,
    /// It is not known what is called.
    Unknown,
}

impl Call {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), state: State::Unnamed { pieces: String::new() } }
    }

    /// `tool-input-start`: the tool is known.
    pub(super) fn start(&mut self, start: Part<'_>, asked: &Asked, teller: &mut Teller<'_>) {
        let (State::Unnamed { pieces }, Some(tool)) =
            (&mut self.state, Tool::started(start, asked))
        else {
            return;
        };
        let (name, said) = (tool.name, std::mem::take(pieces));
        self.state = match tool.kind {
            ToolKind::Provided => State::Provided { name, said },
            ToolKind::Undecided => State::Undecided { name, said },
            ToolKind::Of(form) => {
                let index = form.begin(&self.id, &name, teller);
                teller.say(index, form.spoken(), 0, &format!("\"{said}\""));
                State::Told { index, name, form, said }
            }
        };
    }

    /// `tool-input-delta`: a piece of the input, a raw JSON string.
    pub(super) fn piece(&mut self, piece: &str, teller: &mut Teller<'_>) {
        let kept = match &mut self.state {
            State::Unnamed { pieces } => pieces,
            State::Undecided { said, .. } | State::Provided { said, .. } => said,
            State::Told { index, form, said, .. } => {
                teller.say(*index, form.spoken(), 0, piece);
                said
            }
            State::Made { .. } | State::Ran | State::Answered | State::Unknown => return,
        };
        kept.push_str(inside(piece));
    }

    /// `tool-call`, or a result that names tool and input: the call is whole.
    pub(super) fn make(
        &mut self,
        call: Part<'_>,
        asked: &Asked,
        level: Level,
        teller: &mut Teller<'_>,
    ) {
        let input = call.get("input");
        self.state = match self.take() {
            State::Unnamed { pieces } => match Tool::called(call, asked, level) {
                None => State::Unnamed { pieces },
                Some(Tool { name, kind }) => {
                    self.make_unannounced(call, name, &kind, &pieces, teller)
                }
            },
            State::Told { index, name, form, said } => {
                note_other_name(call, &name, teller);
                self.end(index, name, form, &form.input(input, &said), teller)
            }
            State::Undecided { name, said } => self.decide(name, input, &said, teller),
            State::Provided { .. } => provided(call, teller),
            State::Made { index, name, form, input: made } => {
                note_other_call(call, &self.id, (&name, form, &made), teller);
                State::Made { index, name, form, input: made }
            }
            ended @ (State::Ran | State::Answered | State::Unknown) => ended,
        };
    }

    /// The step is over: what is known of the call is all.
    pub(super) fn close(&mut self, teller: &mut Teller<'_>) {
        self.state = match self.take() {
            State::Unnamed { .. } => {
                teller.assembler.leave_out("the input of a call that names no tool");
                State::Unknown
            }
            State::Told { index, name, form, said } => {
                self.end(index, name, form, &form.input(None, &said), teller)
            }
            State::Undecided { name, said } => self.decide(name, None, &said, teller),
            State::Provided { name, said } => {
                let content = provided_call(&self.id, &name, &format!("\"{said}\""));
                teller.extension("tool-call", &content);
                State::Ran
            }
            ended => ended,
        };
    }

    /// Its tool has given something: if it is known what was called, the call is whole.
    pub(super) fn settle(&mut self, teller: &mut Teller<'_>) {
        if self.runner() != Runner::Unknown {
            self.close(teller);
        }
    }

    /// The response ends with the call unfinished: what was not told of it is left out.
    pub(super) fn leave_out(&self, teller: &mut Teller<'_>) {
        if let State::Undecided { name, .. } | State::Provided { name, .. } = &self.state {
            teller.assembler.leave_out(format!("an unfinished call of the tool '{name}'"));
        }
    }

    /// Its output, raw, which is told once.
    pub(super) fn answer(&mut self, output: &str, teller: &mut Teller<'_>) {
        if let State::Made { index, form, .. } = &self.state {
            if let Some(call_id) = teller.assembler.call_id(*index).map(str::to_owned) {
                teller.whole(&form.output(&call_id, output));
            }
            self.state = State::Answered;
        }
    }

    /// Who runs its tool.
    pub(super) fn runner(&self) -> Runner {
        match self.state {
            State::Unnamed { .. } | State::Unknown => Runner::Unknown,
            State::Provided { .. } | State::Ran => Runner::Provider,
            State::Told { .. } | State::Undecided { .. } | State::Made { .. } | State::Answered => {
                Runner::Client
            }
        }
    }

    fn make_unannounced(
        &self,
        call: Part<'_>,
        name: String,
        kind: &ToolKind,
        pieces: &str,
        teller: &mut Teller<'_>,
    ) -> State {
        let form = match kind {
            ToolKind::Provided => return provided(call, teller),
            ToolKind::Undecided => Form::Custom,
            ToolKind::Of(form) => *form,
        };
        self.whole(name, form, &form.input(call.get("input"), pieces), teller)
    }

    /// A call of a custom tool is whole, whose pieces may be its text or JSON that holds it.
    fn decide(
        &self,
        name: String,
        input: Option<&str>,
        said: &str,
        teller: &mut Teller<'_>,
    ) -> State {
        let said = format!("\"{said}\"");
        self.whole(name, Form::Custom, &input::text(input.or(Some(&said)), ""), teller)
    }

    fn whole(&self, name: String, form: Form, input: &str, teller: &mut Teller<'_>) -> State {
        let index = form.begin(&self.id, &name, teller);
        self.end(index, name, form, input, teller)
    }

    fn end(
        &self,
        index: u64,
        name: String,
        form: Form,
        input: &str,
        teller: &mut Teller<'_>,
    ) -> State {
        let (id, quoted) = (quote(&self.id), quote(&name));
        let mut item = form.item(&id, &quoted);
        item.set(form.field(), input);
        teller.end(index, &item);
        State::Made { index, name, form, input: input.to_owned() }
    }

    fn take(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Unknown)
    }
}

fn provided(call: Part<'_>, teller: &mut Teller<'_>) -> State {
    let is_call = call.kind().as_deref() == Some("tool-call");
    let name = call.string("toolName").unwrap_or_default();
    let content = match is_call {
        true => call.to_text(),
        false => provided_call(&call.id(), &name, call.get("input").unwrap_or("{}")),
    };
    teller.extension("tool-call", &content);
    State::Ran
}

/// The `tool-call` that a call of the provider's would have had, with this raw input.
fn provided_call(id: &str, name: &str, input: &str) -> String {
    let (id, name) = (quote(id), quote(name));
    format!(
        r#"{{"type":"tool-call","toolCallId":{id},"toolName":{name},"input":{input},"providerExecuted":true}}"#
    )
}

/// An item keeps the name that it was announced with.
fn note_other_name(call: Part<'_>, told: &str, teller: &mut Teller<'_>) {
    if let Some(name) = call.string("toolName").filter(|name| *name != told) {
        teller.assembler.leave_out(format!("the name '{name}' for a call of the tool '{told}'"));
    }
}

/// A call of the same id in the same step is the same call. What it says otherwise is lost.
fn note_other_call(
    call: Part<'_>,
    id: &str,
    (name, form, made): (&str, Form, &str),
    teller: &mut Teller<'_>,
) {
    let said = inside(made);
    let is_other = call.string("toolName").is_some_and(|other| other != name)
        || call.get("input").is_some_and(|input| form.input(Some(input), said) != made);
    if is_other {
        teller.assembler.leave_out(format!("another tool-call '{id}' of the same step"));
    }
}
