//! A `tool_use` block.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::context::Context;
use super::text::speaks;
use crate::json::{Object, quote, unquote};
use crate::stream::{Assembler, Spoken};

/// A call of a tool, as one block tells of it. Which block of several with one id tells clients of
/// the call is decided by [`Calls`](super::calls::Calls).
#[derive(Debug)]
pub(super) struct Call {
    pub(super) item: u64,
    pub(super) name: CallName,
    is_custom: bool,
    /// The input as far as it came in pieces, escaped.
    said: String,
    /// The input that the block started with, raw.
    given: String,
}

/// What a call goes by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallName {
    pub(super) id: String,
    pub(super) tool: String,
}

impl CallName {
    fn of(block: &Object<'_>) -> Self {
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
        let name = CallName::of(block);
        let call = Self {
            item: context.new_item(),
            is_custom: context.asked.is_custom(&name.tool),
            name,
            said: String::new(),
            given: block.present("input").unwrap_or("{}").to_owned(),
        };
        if context.calls.is_new(&call) {
            assembler.announce_item(call.item, &call.as_item(r#""""#));
        }
        call
    }

    pub(super) fn is_named_by(&self, block: &Object<'_>) -> bool {
        self.name == CallName::of(block)
    }

    /// Takes a piece of the input: a raw JSON string.
    pub(super) fn say(&mut self, raw: &str, context: &mut Context, assembler: &mut Assembler) {
        if !speaks(raw) {
            return;
        }
        self.said.push_str(&raw[1..raw.len() - 1]);
        if context.calls.speaks_for_itself(self) && !self.is_custom {
            assembler.delta(self.item, Spoken::Arguments, 0, raw);
        }
    }

    /// Whether its input cannot go on: it is JSON.
    pub(super) fn is_whole(&self) -> bool {
        let is_given = self.said.is_empty() && !self.is_empty();
        is_given || serde_json::from_str::<IgnoredAny>(&self.input()).is_ok() && !self.is_empty()
    }

    /// Whether no input came, or that of a call without arguments.
    pub(super) fn is_empty(&self) -> bool {
        let given = Object::parse(self.given.as_bytes());
        self.said.is_empty() && given.is_ok_and(|given| given.iter().next().is_none())
    }

    /// The input as JSON. A call that nothing was said of has no arguments.
    pub(super) fn input(&self) -> String {
        if self.said.is_empty() {
            return self.given.clone();
        }
        let said = format!("\"{}\"", self.said);
        unquote(&said).map_or_else(|| self.said.clone(), std::borrow::Cow::into_owned)
    }

    /// Whether both calls say the same.
    pub(super) fn says(&self, input: &str) -> bool {
        let own = self.input();
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
        own == input || parsed(&own).is_some_and(|own| Some(own) == parsed(input))
    }

    /// Ends the item of this index with the input of this call.
    pub(super) fn end_item(&self, item: u64, assembler: &mut Assembler) {
        let text = if self.is_custom { custom_input(&self.input()) } else { quote(&self.input()) };
        assembler.end_item(item, &self.as_item(&text));
    }

    /// The item, with `text` (a raw JSON string) for what it says.
    pub(super) fn as_item(&self, text: &str) -> Object<'static> {
        let (kind, key) = match self.is_custom {
            true => ("custom_tool_call", "input"),
            false => ("function_call", "arguments"),
        };
        let mut item = Object::default();
        item.set("type", quote(kind));
        item.set("call_id", quote(&self.name.id));
        item.set("name", quote(&self.name.tool));
        item.set(key, text.to_owned());
        item
    }
}

/// The text that a custom tool is called with, as a raw JSON string. Its input schema has one field,
/// `input`; a model that does not keep to it is quoted as a whole.
fn custom_input(input: &str) -> String {
    let fields = Object::parse(input.as_bytes()).ok();
    let text = fields.as_ref().and_then(|fields| fields.get("input"));
    match text.filter(|raw| raw.starts_with('"')) {
        Some(raw) => raw.to_owned(),
        None if input == "{}" => quote(""),
        None => quote(input),
    }
}
