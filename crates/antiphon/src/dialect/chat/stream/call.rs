//! One tool call of an answer.

use super::fragment::{EXTRA, Fragment};
use super::item_emitter::ItemEmitter;
use super::reasoning;
use crate::dialect::RequestContext;
use crate::dialect::request::CallForm;
use crate::dialect::tools::{search_arguments, search_call};
use crate::json::{Object, quote};
use crate::stream::DeltaKind;

/// A call that is not complete yet.
///
/// ```text
///   Unnamed ── name ──> Named ── input, or output of another item ──> Announced
///      └────── name, if input came before ────────────────────────────────┘
/// ```
///
/// The call is announced when its name is complete, because its name and its `call_id` cannot
/// change after that. A later id is ignored: the assembler has issued one by then.
///
/// Servers send a name once, or in every fragment, or in pieces (`get_`, `weather`), or each time
/// with the text so far. Before any input, these rules apply: a repeated name changes nothing; a
/// name that begins with the name so far replaces it; any other name is appended to it. After the
/// call is announced, another name belongs to another call.
#[derive(Debug)]
pub(super) struct Call {
    /// Empty if no id has come.
    id: String,
    is_custom: bool,
    /// Whether the server has sent an index for it.
    pub(super) has_index: bool,
    /// The number of the last delta with a fragment of this call.
    last_delta: u64,
    /// The raw `extra_content` until it is sealed. The server requires it in the next request.
    extra: Option<String>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The input so far, escaped.
    Unnamed(String),
    Named(String),
    Announced(Announced),
}

#[derive(Debug)]
struct Announced {
    index: u64,
    name: String,
    form: CallForm,
    lacks_input: bool,
    /// The input of a tool search so far, escaped: its arguments are one JSON value.
    search_input: String,
}

impl Call {
    /// A new call, whose first fragment is in the delta with this number.
    pub(super) fn new(delta: u64) -> Self {
        let state = State::Unnamed(String::new());
        Self {
            id: String::new(),
            is_custom: false,
            has_index: false,
            last_delta: delta,
            extra: None,
            state,
        }
    }

    /// Whether the call has no id yet.
    pub(super) fn lacks_id(&self) -> bool {
        self.id.is_empty()
    }

    /// Whether the call has an `extra_content` that came too late to be sealed.
    pub(super) fn lacks_seal(&self) -> bool {
        self.extra.is_some()
    }

    /// Whether the call has no name yet.
    pub(super) fn lacks_name(&self) -> bool {
        matches!(self.state, State::Unnamed(_))
    }

    /// Whether a fragment with the same key belongs to this call. It begins another call if it has
    /// a name, and another id, another name, or the same delta.
    pub(super) fn continues_with(&self, fragment: &Fragment<'_>, delta: u64) -> bool {
        let Some(name) = &fragment.name else { return true };
        if fragment.id.as_ref().is_some_and(|id| !self.lacks_id() && self.id != *id) {
            return false;
        }
        match &self.state {
            State::Unnamed(_) => true,
            State::Named(own) => own == name || self.last_delta != delta,
            State::Announced(announced) => {
                announced.name == *name && (announced.lacks_input || self.last_delta != delta)
            }
        }
    }

    /// Sets the id if the call has none.
    pub(super) fn set_id(&mut self, id: &str) {
        if self.lacks_id() {
            id.clone_into(&mut self.id);
        }
    }

    /// Applies a fragment from the delta with this number.
    pub(super) fn apply(
        &mut self,
        fragment: &Fragment<'_>,
        delta: u64,
        context: &RequestContext,
        emitter: &mut ItemEmitter<'_>,
    ) {
        self.last_delta = delta;
        self.is_custom |= fragment.is_custom;
        if let Some(extra) = fragment.extra {
            self.extra = Some(extra.to_owned());
        }
        if let Some(name) = &fragment.name {
            self.apply_name(name, context, emitter);
        }
        if let Some(input) = &fragment.input {
            self.apply_input(input, context, emitter);
        }
    }

    /// Announces the call if it has a name. If the server requires an `extra_content` back, a
    /// reasoning item that seals it comes first.
    pub(super) fn announce(&mut self, context: &RequestContext, emitter: &mut ItemEmitter<'_>) {
        let State::Named(name) = &mut self.state else { return };
        let name = std::mem::take(name);
        // The tool's type in the request takes precedence over the type in the call.
        let form = if self.is_custom { CallForm::Custom } else { context.call_form(&name) };
        let call = announcement(form, &self.id, &name, context);
        let reasoning_item = self.extra.take().map(|extra| (reasoning::begin(emitter), extra));
        let index = emitter.announce_call(&call);
        if let Some((reasoning_item, extra)) = reasoning_item {
            let call_id = emitter.assembler.call_id(index).unwrap_or(r#""""#);
            let content = format!(r#"{{"tool_calls":[{{"id":{call_id},"{EXTRA}":{extra}}}]}}"#);
            reasoning::end(reasoning_item, content, &context.origin, emitter);
        }
        let search_input = String::new();
        let announced = Announced { index, name, form, lacks_input: true, search_input };
        self.state = State::Announced(announced);
    }

    /// Completes the call. A function call without arguments gets `{}`, which clients can parse and
    /// servers accept.
    pub(super) fn complete(&mut self, except: Option<u64>, emitter: &mut ItemEmitter<'_>) {
        let State::Announced(announced) = &mut self.state else { return };
        let is_whole = except != Some(announced.index);
        match announced.form {
            CallForm::Function if is_whole && announced.lacks_input => {
                announced.lacks_input = false;
                emitter.complete(announced.index, DeltaKind::Arguments, r#""{}""#);
            }
            CallForm::ToolSearch => announced.end_search(&self.id, is_whole, emitter),
            CallForm::Function | CallForm::Custom => {}
        }
    }

    fn apply_name(&mut self, name: &str, context: &RequestContext, emitter: &mut ItemEmitter<'_>) {
        match &mut self.state {
            State::Unnamed(input) => {
                let input = std::mem::take(input);
                self.state = State::Named(name.to_owned());
                if !input.is_empty() {
                    self.apply_input(&format!("\"{input}\""), context, emitter);
                }
            }
            State::Named(own) if name.starts_with(&**own) => name.clone_into(own),
            State::Named(own) => own.push_str(name),
            State::Announced(_) => {}
        }
    }

    /// Appends input. If the call has a name, the input shows that the name is complete; otherwise
    /// the input waits for the name.
    fn apply_input(&mut self, raw: &str, context: &RequestContext, emitter: &mut ItemEmitter<'_>) {
        self.announce(context, emitter);
        match &mut self.state {
            State::Unnamed(input) => input.push_str(&raw[1..raw.len() - 1]),
            State::Announced(announced) => announced.apply_input(raw, emitter),
            State::Named(_) => unreachable!("it was announced above"),
        }
    }
}

impl Announced {
    fn apply_input(&mut self, raw: &str, emitter: &mut ItemEmitter<'_>) {
        self.lacks_input = false;
        match self.form {
            CallForm::Function => emitter.delta(self.index, DeltaKind::Arguments, 0, raw),
            CallForm::Custom => emitter.delta(self.index, DeltaKind::Input, 0, raw),
            CallForm::ToolSearch => {
                emitter.hold(self.index);
                self.search_input.push_str(&raw[1..raw.len() - 1]);
            }
        }
    }

    /// Ends a tool search with the input that has come.
    fn end_search(&mut self, call_id: &str, is_whole: bool, emitter: &mut ItemEmitter<'_>) {
        let input = format!("\"{}\"", std::mem::take(&mut self.search_input));
        let mut search = search_call(call_id, &search_arguments(&input));
        search.set("status", if is_whole { r#""completed""# } else { r#""incomplete""# });
        emitter.end(self.index, &search);
    }
}

/// The item of a call, without an input.
fn announcement(
    form: CallForm,
    call_id: &str,
    name: &str,
    context: &RequestContext,
) -> Object<'static> {
    let kind = match form {
        CallForm::Function => r#""function_call""#,
        CallForm::Custom => r#""custom_tool_call""#,
        CallForm::ToolSearch => return search_call(call_id, "{}"),
    };
    let mut call = Object::default();
    call.set("type", kind);
    call.set("call_id", quote(call_id));
    context.write_name(name, &mut call);
    call
}
