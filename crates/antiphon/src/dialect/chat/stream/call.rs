//! One tool call of an answer.

use super::fragment::{EXTRA, Fragment};
use super::reasoning;
use super::teller::Teller;
use crate::dialect::Asked;
use crate::json::{Object, quote};
use crate::stream::Spoken;

/// A call as far as it has come.
///
/// ```text
///   Unnamed ── name ──> Named ── input, or something else speaks ──> Announced
///      └────── name, where input has come before ────────────────────────┘
/// ```
///
/// It is announced as soon as its name is known to be whole, since its name and its `call_id` cannot
/// change after that. An id that comes later is not told: the assembler has issued one by then.
///
/// A judgement: servers send a name once, or with every piece, or in pieces (`get_`, `weather`), or
/// each time with what was sent of it before. While no input has come, a name that comes again is
/// the same again; one that begins with the name so far is the longer of the two; any other goes on
/// from it. Once the call is announced, another name is another call's.
#[derive(Debug)]
pub(super) struct Call {
    /// Empty while none has come.
    id: String,
    is_custom: bool,
    /// Whether the server has given it an index.
    pub(super) is_counted: bool,
    /// The number of the delta that spoke of it last.
    heard_in: u64,
    /// What the server wants back with it, raw, until it is sealed.
    extra: Option<String>,
    state: State,
}

#[derive(Debug)]
enum State {
    /// With the input that has come, escaped.
    Unnamed(String),
    Named(String),
    Announced(Announced),
}

#[derive(Debug)]
struct Announced {
    index: u64,
    name: String,
    spoken: Spoken,
    is_silent: bool,
}

impl Call {
    /// A call of which nothing is known, heard of in the delta of this number.
    pub(super) fn new(delta: u64) -> Self {
        let state = State::Unnamed(String::new());
        Self {
            id: String::new(),
            is_custom: false,
            is_counted: false,
            heard_in: delta,
            extra: None,
            state,
        }
    }

    /// Whether it has no id yet.
    pub(super) fn lacks_id(&self) -> bool {
        self.id.is_empty()
    }

    /// Whether its server wants something back that was not sealed: it came after the call.
    pub(super) fn lacks_seal(&self) -> bool {
        self.extra.is_some()
    }

    /// Whether its name has not begun yet.
    pub(super) fn lacks_name(&self) -> bool {
        matches!(self.state, State::Unnamed(_))
    }

    /// Whether a fragment in its place, of the delta of this number, belongs to it, rather than
    /// begins another call: that takes a name, and another id, another name, or the same delta.
    pub(super) fn goes_on_with(&self, fragment: &Fragment<'_>, delta: u64) -> bool {
        let Some(name) = &fragment.name else { return true };
        if fragment.id.as_ref().is_some_and(|id| !self.lacks_id() && self.id != *id) {
            return false;
        }
        match &self.state {
            State::Unnamed(_) => true,
            State::Named(own) => own == name || self.heard_in != delta,
            State::Announced(told) => {
                told.name == *name && (told.is_silent || self.heard_in != delta)
            }
        }
    }

    /// Takes its id, if it has none.
    pub(super) fn take_id(&mut self, id: &str) {
        if self.lacks_id() {
            id.clone_into(&mut self.id);
        }
    }

    /// Takes a fragment of it, of the delta of this number.
    pub(super) fn hear(
        &mut self,
        fragment: &Fragment<'_>,
        delta: u64,
        asked: &Asked,
        teller: &mut Teller<'_>,
    ) {
        self.heard_in = delta;
        self.is_custom |= fragment.is_custom;
        if let Some(extra) = fragment.extra {
            self.extra = Some(extra.to_owned());
        }
        if let Some(name) = &fragment.name {
            self.hear_name(name, asked, teller);
        }
        if let Some(input) = &fragment.input {
            self.hear_input(input, asked, teller);
        }
    }

    /// Announces it, if its name has come, and before it the reasoning that led to it, if its server
    /// wants that back.
    pub(super) fn announce(&mut self, asked: &Asked, teller: &mut Teller<'_>) {
        let State::Named(name) = &mut self.state else { return };
        let name = std::mem::take(name);
        // The request's own word for the tool counts, whatever the server calls it.
        let is_custom = self.is_custom || asked.is_custom(&name);
        let (kind, spoken) = match is_custom {
            true => (r#""custom_tool_call""#, Spoken::Input),
            false => (r#""function_call""#, Spoken::Arguments),
        };
        let (call_id, quoted) = (quote(&self.id), quote(&name));
        let call = [("type", kind), ("call_id", call_id.as_str()), ("name", quoted.as_str())];
        let thought = self.extra.take().map(|extra| (reasoning::begin(teller), extra));
        let index = teller.announce_call(&call.into_iter().collect::<Object<'_>>());
        if let Some((thought, extra)) = thought {
            let call_id = teller.assembler.call_id(index).unwrap_or(r#""""#);
            let content = format!(r#"{{"tool_calls":[{{"id":{call_id},"{EXTRA}":{extra}}}]}}"#);
            reasoning::end(thought, content, &asked.origin, teller);
        }
        self.state = State::Announced(Announced { index, name, spoken, is_silent: true });
    }

    /// The call is whole. A function that is called without a word gets the empty object, which is
    /// what clients parse and servers take back.
    pub(super) fn complete(&mut self, except: Option<u64>, teller: &mut Teller<'_>) {
        let State::Announced(told) = &mut self.state else { return };
        let lacks_arguments = told.is_silent && told.spoken == Spoken::Arguments;
        if lacks_arguments && except != Some(told.index) {
            told.is_silent = false;
            teller.complete(told.index, told.spoken, r#""{}""#);
        }
    }

    fn hear_name(&mut self, name: &str, asked: &Asked, teller: &mut Teller<'_>) {
        match &mut self.state {
            State::Unnamed(input) => {
                let input = std::mem::take(input);
                self.state = State::Named(name.to_owned());
                if !input.is_empty() {
                    self.hear_input(&format!("\"{input}\""), asked, teller);
                }
            }
            State::Named(own) if name.starts_with(&**own) => name.clone_into(own),
            State::Named(own) => own.push_str(name),
            State::Announced(_) => {}
        }
    }

    /// Input ends a name, and waits where there is none.
    fn hear_input(&mut self, raw: &str, asked: &Asked, teller: &mut Teller<'_>) {
        self.announce(asked, teller);
        match &mut self.state {
            State::Unnamed(input) => input.push_str(&raw[1..raw.len() - 1]),
            State::Announced(told) => {
                told.is_silent = false;
                teller.delta(told.index, told.spoken, 0, raw);
            }
            State::Named(_) => unreachable!("it was announced above"),
        }
    }
}
