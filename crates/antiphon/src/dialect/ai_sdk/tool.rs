//! The tool of a call, and the kind of item that the call becomes.

use super::input::{self, Level};
use super::item_emitter::ItemEmitter;
use super::part::Part;
use crate::dialect::RequestContext;
use crate::json::{Object, quote};
use crate::stream::DeltaKind;

/// The kind of item for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `function_call`, whose input is JSON.
    Function,
    /// `custom_tool_call`, whose input is a text.
    Custom,
}

/// A tool, by the first part that names it.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) kind: ToolKind,
}

/// The party that runs the tool, and the form of the call.
pub(super) enum ToolKind {
    /// The client runs it; the call has this form.
    Client(Form),
    /// The client runs this custom tool; the final input shows the encoding of the text.
    Undecided,
    /// The provider runs it.
    Provided,
}

impl Tool {
    /// The tool in a `tool-input-start`, which may contain the encoding of the deltas.
    pub(super) fn from_input_start(start: Part<'_>, context: &RequestContext) -> Option<Self> {
        let is_text = start.string("inputEncoding").as_deref() == Some("text");
        Self::from_part(start, |name| match (is_text, context.is_custom(name)) {
            (true, _) => ToolKind::Client(Form::Custom),
            (false, true) => ToolKind::Undecided,
            (false, false) => ToolKind::Client(Form::Function),
        })
    }

    /// The tool in a `tool-call` without earlier parts.
    pub(super) fn from_call(
        call: Part<'_>,
        context: &RequestContext,
        level: Level,
    ) -> Option<Self> {
        Self::from_part(call, |name| match context.is_custom(name) || input::is_text(call, level) {
            true => ToolKind::Client(Form::Custom),
            false => ToolKind::Client(Form::Function),
        })
    }

    /// The tool in a part; `kind` applies if the client runs it.
    fn from_part(part: Part<'_>, kind: impl FnOnce(&str) -> ToolKind) -> Option<Self> {
        let name = part.string("toolName").filter(|name| !name.is_empty())?.into_owned();
        let is_provided = part.is_true("providerExecuted");
        let kind = if is_provided { ToolKind::Provided } else { kind(&name) };
        Some(Self { name, kind })
    }
}

impl Form {
    /// Begins the item. `id` is the `toolCallId`.
    pub(super) fn begin(self, id: &str, name: &str, emitter: &mut ItemEmitter<'_>) -> u64 {
        emitter.begin(&self.item(&quote(id), &quote(name)))
    }

    /// A call item with this raw `call_id` and name.
    pub(super) fn item<'a>(self, call_id: &'a str, name: &'a str) -> Object<'a> {
        let kind = match self {
            Self::Function => r#""function_call""#,
            Self::Custom => r#""custom_tool_call""#,
        };
        [("type", kind), ("call_id", call_id), ("name", name)].into_iter().collect()
    }

    /// The output item of such a call, from raw values.
    pub(super) fn output<'a>(self, call_id: &'a str, output: &'a str) -> Object<'a> {
        let kind = match self {
            Self::Function => r#""function_call_output""#,
            Self::Custom => r#""custom_tool_call_output""#,
        };
        let fields = [("type", kind), ("call_id", call_id), ("output", output)];
        fields.into_iter().chain([("status", r#""completed""#)]).collect()
    }

    /// The field of the input.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Function => "arguments",
            Self::Custom => "input",
        }
    }

    /// The kind of the input's deltas.
    pub(super) fn spoken(self) -> DeltaKind {
        match self {
            Self::Function => DeltaKind::Arguments,
            Self::Custom => DeltaKind::Input,
        }
    }

    /// The raw input, from the final input and from the deltas.
    pub(super) fn input(self, input: Option<&str>, streamed: &str) -> String {
        match self {
            Self::Function => input::arguments(input, streamed),
            Self::Custom => input::text(input, streamed),
        }
    }
}
