//! The calls of one answer by their ids.
//!
//! Models and proxies sometimes send one `tool_use` id in two blocks. Anthropic rejects both blocks
//! in the next request ("`tool_use` ids must be unique").

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::block::Context;
use super::text::is_nonempty_string;
use crate::dialect::request::CallForm;
use crate::dialect::tools::{search_arguments, search_call};
use crate::json::{Object, quote, unquote};
use crate::stream::{Assembler, DeltaKind};

/// Decides which blocks belong to one call.
///
/// ```text
///   first block ──> Empty ── input ──> Streaming ── stop ──> Ended
///                     └── stop, or another block of the same key stops with an input ──> Ended
/// ```
///
/// A later block with the same id and tool repeats the call if its input is the same or empty: the
/// block is left out, and reported. With another input it is another call, which gets an id from
/// the assembler, and this is reported too. Its input is held until the first call's input is
/// complete.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_key: HashMap<CallKey, KnownCall>,
}

#[derive(Debug)]
struct KnownCall {
    /// The item of the first block.
    item: u64,
    state: State,
    /// Later blocks of the same key that stopped before the call ended.
    later: Vec<Call>,
}

#[derive(Debug)]
enum State {
    Empty,
    Streaming,
    Ended { input: String },
}

impl Calls {
    /// Whether a starting block is the first of its key. A call without an id is always new.
    pub(super) fn is_new(&mut self, call: &Call) -> bool {
        if call.key.id.is_empty() {
            return true;
        }
        let new = || KnownCall { item: call.item, state: State::Empty, later: Vec::new() };
        self.by_key.entry(call.key.clone()).or_insert_with(new).item == call.item
    }

    /// Records that a block has input. Returns whether its input may be streamed to the client.
    pub(super) fn record_input(&mut self, call: &Call) -> bool {
        let Some(known) = self.by_key.get_mut(&call.key) else { return true };
        let is_first = known.item == call.item;
        if is_first && matches!(known.state, State::Empty) {
            known.state = State::Streaming;
        }
        is_first
    }

    /// Ends a block.
    pub(super) fn end(&mut self, call: Call, assembler: &mut Assembler) {
        let Some(known) = self.by_key.get_mut(&call.key) else {
            call.end_item(call.item, assembler);
            return;
        };
        let is_first = known.item == call.item;
        match &known.state {
            State::Ended { input } => emit_repeat(&call, input, assembler),
            State::Empty if !is_first && call.is_empty() => known.later.push(call),
            State::Streaming if !is_first => known.later.push(call),
            State::Empty | State::Streaming => known.end_with(&call, assembler),
        }
    }
}

impl KnownCall {
    /// Ends the call with the input of this block.
    fn end_with(&mut self, call: &Call, assembler: &mut Assembler) {
        call.end_item(self.item, assembler);
        let input = call.input();
        for later in std::mem::take(&mut self.later) {
            emit_repeat(&later, &input, assembler);
        }
        self.state = State::Ended { input };
    }
}

/// Leaves out a block that repeats a call with this `input`, or emits it as another call.
fn emit_repeat(call: &Call, input: &str, assembler: &mut Assembler) {
    if call.is_empty() || call.has_input(input) {
        assembler.leave_out(format!("content block 'tool_use' that repeats '{}'", call.key.id));
        return;
    }
    assembler.announce_other_item(call.item, &call.announcement());
    call.end_item(call.item, assembler);
}

/// A tool call in one block. [`Calls`] decides which of several blocks with
/// the same id becomes the call.
#[derive(Debug)]
pub(super) struct Call {
    item: u64,
    key: CallKey,
    form: CallForm,
    /// The fields of the item that name the tool.
    name: Object<'static>,
    /// The input that arrived in deltas, still escaped.
    streamed: String,
    /// The input at the start of the block, raw.
    initial: String,
}

/// The id and the tool of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CallKey {
    id: String,
    tool: String,
}

impl CallKey {
    fn from_block(block: &Object<'_>) -> Self {
        let text = |key| block.string(key).unwrap_or_default().into_owned();
        Self { id: text("id"), tool: text("name") }
    }
}

impl Call {
    pub(super) fn start(
        block: &Object<'_>,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Self {
        let key = CallKey::from_block(block);
        let mut name = Object::default();
        context.request.write_name(&key.tool, &mut name);
        let call = Self {
            item: context.new_item(),
            name,
            form: context.request.call_form(&key.tool),
            key,
            streamed: String::new(),
            initial: block.present("input").unwrap_or("{}").to_owned(),
        };
        if context.calls.is_new(&call) {
            assembler.announce_item(call.item, &call.announcement());
        }
        call
    }

    pub(super) fn has_key_of(&self, block: &Object<'_>) -> bool {
        self.key == CallKey::from_block(block)
    }

    /// Appends a piece of the input: a raw JSON string.
    pub(super) fn append_input(
        &mut self,
        raw: &str,
        context: &mut Context,
        assembler: &mut Assembler,
    ) {
        if !is_nonempty_string(raw) {
            return;
        }
        self.streamed.push_str(&raw[1..raw.len() - 1]);
        if context.calls.record_input(self) && self.form == CallForm::Function {
            assembler.delta(self.item, DeltaKind::Arguments, 0, raw);
        }
    }

    /// Whether the input is complete JSON.
    pub(super) fn is_whole(&self) -> bool {
        let is_initial = self.streamed.is_empty() && !self.is_empty();
        is_initial || serde_json::from_str::<IgnoredAny>(&self.input()).is_ok() && !self.is_empty()
    }

    /// Whether the input is empty or an empty object.
    pub(super) fn is_empty(&self) -> bool {
        let initial = Object::parse(self.initial.as_bytes());
        self.streamed.is_empty() && initial.is_ok_and(|initial| initial.iter().next().is_none())
    }

    /// The input as JSON; the initial input if no delta came.
    pub(super) fn input(&self) -> String {
        if self.streamed.is_empty() {
            return self.initial.clone();
        }
        let quoted = format!("\"{}\"", self.streamed);
        unquote(&quoted).map_or_else(|| self.streamed.clone(), std::borrow::Cow::into_owned)
    }

    /// Whether the call has this input, compared as JSON.
    pub(super) fn has_input(&self, input: &str) -> bool {
        let own = self.input();
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
        own == input || parsed(&own).is_some_and(|own| Some(own) == parsed(input))
    }

    /// Ends the item at this index with the input of this call.
    pub(super) fn end_item(&self, item: u64, assembler: &mut Assembler) {
        assembler.end_item(item, &self.as_item());
    }

    /// The item without an input.
    fn announcement(&self) -> Object<'static> {
        match self.form {
            CallForm::Function => self.named_item("function_call", "arguments", r#""""#),
            CallForm::Custom => self.named_item("custom_tool_call", "input", r#""""#),
            CallForm::ToolSearch => search_call(&self.key.id, "{}"),
        }
    }

    /// The item with its input.
    fn as_item(&self) -> Object<'static> {
        let input = self.input();
        match self.form {
            CallForm::Function => self.named_item("function_call", "arguments", &quote(&input)),
            CallForm::Custom => self.named_item("custom_tool_call", "input", &custom_input(&input)),
            CallForm::ToolSearch if self.streamed.is_empty() => search_call(&self.key.id, &input),
            CallForm::ToolSearch => {
                let arguments = search_arguments(&format!("\"{}\"", self.streamed));
                search_call(&self.key.id, &arguments)
            }
        }
    }

    fn named_item(&self, kind: &str, key: &'static str, text: &str) -> Object<'static> {
        let mut item = Object::default();
        item.set("type", quote(kind));
        item.set("call_id", quote(&self.key.id));
        for (field, raw) in self.name.iter() {
            item.set(field.to_owned(), raw.to_owned());
        }
        item.set(key, text.to_owned());
        item
    }
}

/// The input of a custom tool, as a raw JSON string. The schema of the input has one field,
/// `input`. If the model did not follow the schema, the whole input is quoted.
fn custom_input(input: &str) -> String {
    let fields = Object::parse(input.as_bytes()).ok();
    let text = fields.as_ref().and_then(|fields| fields.get("input"));
    match text.filter(|raw| raw.starts_with('"')) {
        Some(raw) => raw.to_owned(),
        None if input == "{}" => quote(""),
        None => quote(input),
    }
}
