//! The tool that a call calls, and which item such a call is.

use super::input::{self, Level};
use super::part::Part;
use super::teller::Teller;
use crate::dialect::Asked;
use crate::json::{Object, quote};
use crate::stream::Spoken;

/// Which item a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `function_call`: its input is JSON.
    Function,
    /// `custom_tool_call`: its input is a text.
    Custom,
}

/// A tool, as the first part that names it does.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) kind: ToolKind,
}

/// Who runs it, and what its input is.
pub(super) enum ToolKind {
    /// The client, which is given a call of this form.
    Of(Form),
    /// The client: a custom tool, of which the final input shows how its text is encoded.
    Undecided,
    /// The provider.
    Provided,
}

impl Tool {
    /// By a `tool-input-start`, which may say how the pieces are encoded.
    pub(super) fn started(start: Part<'_>, asked: &Asked) -> Option<Self> {
        let is_text = start.string("inputEncoding").as_deref() == Some("text");
        Self::of(start, |name| match (is_text, asked.is_custom(name)) {
            (true, _) => ToolKind::Of(Form::Custom),
            (false, true) => ToolKind::Undecided,
            (false, false) => ToolKind::Of(Form::Function),
        })
    }

    /// By a `tool-call` that nothing came before.
    pub(super) fn called(call: Part<'_>, asked: &Asked, level: Level) -> Option<Self> {
        Self::of(call, |name| match asked.is_custom(name) || input::is_text(call, level) {
            true => ToolKind::Of(Form::Custom),
            false => ToolKind::Of(Form::Function),
        })
    }

    /// The tool that a part names, of this kind where the client runs it.
    fn of(part: Part<'_>, kind: impl FnOnce(&str) -> ToolKind) -> Option<Self> {
        let name = part.string("toolName").filter(|name| !name.is_empty())?.into_owned();
        let is_provided = part.is_true("providerExecuted");
        let kind = if is_provided { ToolKind::Provided } else { kind(&name) };
        Some(Self { name, kind })
    }
}

impl Form {
    /// Its item begins. `id`: the `toolCallId`.
    pub(super) fn begin(self, id: &str, name: &str, teller: &mut Teller<'_>) -> u64 {
        teller.begin(&self.item(&quote(id), &quote(name)))
    }

    /// A call by its raw `call_id` and name.
    pub(super) fn item<'a>(self, call_id: &'a str, name: &'a str) -> Object<'a> {
        let kind = match self {
            Self::Function => r#""function_call""#,
            Self::Custom => r#""custom_tool_call""#,
        };
        [("type", kind), ("call_id", call_id), ("name", name)].into_iter().collect()
    }

    /// The output of such a call, both raw.
    pub(super) fn output<'a>(self, call_id: &'a str, output: &'a str) -> Object<'a> {
        let kind = match self {
            Self::Function => r#""function_call_output""#,
            Self::Custom => r#""custom_tool_call_output""#,
        };
        let fields = [("type", kind), ("call_id", call_id), ("output", output)];
        fields.into_iter().chain([("status", r#""completed""#)]).collect()
    }

    /// The field that holds its input.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Function => "arguments",
            Self::Custom => "input",
        }
    }

    /// What its pieces are pieces of.
    pub(super) fn spoken(self) -> Spoken {
        match self {
            Self::Function => Spoken::Arguments,
            Self::Custom => Spoken::Input,
        }
    }

    /// Its input, raw: of the final input and what was said in pieces.
    pub(super) fn input(self, input: Option<&str>, said: &str) -> String {
        match self {
            Self::Function => input::arguments(input, said),
            Self::Custom => input::text(input, said),
        }
    }
}
