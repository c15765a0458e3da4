//! The vocabulary of item events: texts that arrive in deltas, and the parts that hold them.
//!
//! Source: the event tables of the Responses API and of Open Responses. If the two have different
//! names for an event (`reasoning_text`, `reasoning`), both are accepted.

use crate::item::{ItemEvents, Kind};

/// A list of parts in an item, and the events that open and close one of them.
#[derive(Debug)]
pub(super) struct PartList {
    /// The item's field.
    pub(super) key: &'static str,
    /// The events' field with the index of the part.
    pub(super) index: &'static str,
    pub(super) added: &'static str,
    pub(super) done: &'static str,
}

pub(super) static CONTENT: PartList = PartList {
    key: "content",
    index: "content_index",
    added: "response.content_part.added",
    done: "response.content_part.done",
};

pub(super) static SUMMARY: PartList = PartList {
    key: "summary",
    index: "summary_index",
    added: "response.reasoning_summary_part.added",
    done: "response.reasoning_summary_part.done",
};

/// An empty part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartShape {
    pub(super) list: &'static PartList,
    /// Its `type`.
    pub(super) name: &'static str,
    /// The part as JSON.
    pub(super) empty: &'static str,
}

/// A text that arrives in `delta` events, then a `done` event with the whole text.
#[derive(Debug)]
pub(super) struct TextKind {
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// The field with the whole text, in `done` and in the part or item that holds it.
    pub(super) field: &'static str,
    /// The kind of item that has such a text.
    pub(super) item_kind: Kind,
    /// The part that holds the text; `None` if the text is a field of the item itself.
    pub(super) part: Option<PartShape>,
    /// Whether it is JSON. White space between the tokens of JSON is ignored.
    pub(super) is_json: bool,
    /// Whether its events carry `logprobs`, which clients' types require.
    pub(super) has_logprobs: bool,
}

const PLAIN: TextKind = TextKind {
    delta: "",
    done: "",
    field: "text",
    item_kind: Kind::Message,
    part: None,
    is_json: false,
    has_logprobs: false,
};

pub(super) static OUTPUT_TEXT: TextKind = TextKind {
    delta: "response.output_text.delta",
    done: "response.output_text.done",
    part: Some(PartShape {
        list: &CONTENT,
        name: "output_text",
        empty: r#"{"type":"output_text","text":"","annotations":[],"logprobs":[]}"#,
    }),
    has_logprobs: true,
    ..PLAIN
};

static REFUSAL: TextKind = TextKind {
    delta: "response.refusal.delta",
    done: "response.refusal.done",
    field: "refusal",
    part: Some(PartShape {
        list: &CONTENT,
        name: "refusal",
        empty: r#"{"type":"refusal","refusal":""}"#,
    }),
    ..PLAIN
};

const REASONING_PART: PartShape = PartShape {
    list: &CONTENT,
    name: "reasoning_text",
    empty: r#"{"type":"reasoning_text","text":""}"#,
};

static REASONING_TEXT: TextKind = TextKind {
    delta: "response.reasoning_text.delta",
    done: "response.reasoning_text.done",
    item_kind: Kind::Reasoning,
    part: Some(REASONING_PART),
    ..PLAIN
};

static REASONING: TextKind = TextKind {
    delta: "response.reasoning.delta",
    done: "response.reasoning.done",
    item_kind: Kind::Reasoning,
    part: Some(REASONING_PART),
    ..PLAIN
};

static SUMMARY_TEXT: TextKind = TextKind {
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    item_kind: Kind::Reasoning,
    part: Some(PartShape {
        list: &SUMMARY,
        name: "summary_text",
        empty: r#"{"type":"summary_text","text":""}"#,
    }),
    ..PLAIN
};

static ARGUMENTS: TextKind = TextKind {
    delta: "response.function_call_arguments.delta",
    done: "response.function_call_arguments.done",
    field: "arguments",
    item_kind: Kind::FunctionCall,
    is_json: true,
    ..PLAIN
};

static MCP_ARGUMENTS: TextKind = TextKind {
    delta: "response.mcp_call_arguments.delta",
    done: "response.mcp_call_arguments.done",
    field: "arguments",
    item_kind: Kind::McpCall,
    is_json: true,
    ..PLAIN
};

static INPUT: TextKind = TextKind {
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
    field: "input",
    item_kind: Kind::CustomToolCall,
    ..PLAIN
};

static CODE: TextKind = TextKind {
    delta: "response.code_interpreter_call_code.delta",
    done: "response.code_interpreter_call_code.done",
    field: "code",
    item_kind: Kind::CodeInterpreterCall,
    ..PLAIN
};

static TEXTS: [&TextKind; 9] = [
    &OUTPUT_TEXT,
    &ARGUMENTS,
    &SUMMARY_TEXT,
    &REASONING_TEXT,
    &REASONING,
    &INPUT,
    &REFUSAL,
    &MCP_ARGUMENTS,
    &CODE,
];

impl TextKind {
    /// The text in a part of this `type`, in an item of kind `item_kind`. Output text in a
    /// reasoning item counts as reasoning.
    pub(super) fn for_part(part_type: &str, item_kind: &Kind) -> Option<&'static Self> {
        let holds = |text: &&&TextKind| text.part.is_some_and(|part| part.name == part_type);
        let text = TEXTS.iter().find(holds).copied()?;
        if *item_kind == Kind::Reasoning && text.item_kind == Kind::Message {
            return Some(&REASONING_TEXT);
        }
        Some(text)
    }

    /// Whether both texts belong to the same type of part.
    pub(super) fn is_in_the_same_part_as(&self, other: &Self) -> bool {
        self.part.zip(other.part).is_some_and(|(one, two)| one.name == two.name)
    }

    /// The text that an item of this kind always has in a field of its own.
    pub(super) fn for_item(kind: &Kind) -> Option<&'static Self> {
        let always = [&ARGUMENTS, &INPUT, &MCP_ARGUMENTS];
        always.into_iter().find(|text| text.item_kind == *kind)
    }
}

/// Whether items of this kind have their text in parts.
pub(super) fn holds_parts(kind: &Kind) -> bool {
    kind.events() == ItemEvents::Parts
}

/// The classification of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// A part begins.
    PartAdded(&'static PartList),
    /// A part ends.
    PartDone(&'static PartList),
    /// A delta of a text.
    Delta(&'static TextKind),
    /// The end of a text, with the whole text.
    TextDone(&'static TextKind),
    /// An annotation on a part's text.
    Annotation,
    /// Any other event, forwarded unchanged.
    Other,
}

const ANNOTATION: &str = "response.output_text.annotation.added";

impl Meaning {
    /// Classifies an event by its type.
    pub(super) fn classify(kind: &str) -> Self {
        for text in TEXTS {
            if kind == text.delta {
                return Self::Delta(text);
            }
            if kind == text.done {
                return Self::TextDone(text);
            }
        }
        for list in [&CONTENT, &SUMMARY] {
            if kind == list.added {
                return Self::PartAdded(list);
            }
            if kind == list.done {
                return Self::PartDone(list);
            }
        }
        if kind == ANNOTATION {
            return Self::Annotation;
        }
        Self::Other
    }

    /// The type of such events; `None` if there are several.
    pub(super) fn event(self) -> Option<&'static str> {
        match self {
            Self::PartAdded(list) => Some(list.added),
            Self::PartDone(list) => Some(list.done),
            Self::Delta(text) => Some(text.delta),
            Self::TextDone(text) => Some(text.done),
            Self::Annotation => Some(ANNOTATION),
            Self::Other => None,
        }
    }

    /// The text that the event belongs to.
    pub(super) fn text(self) -> Option<&'static TextKind> {
        match self {
            Self::Delta(text) | Self::TextDone(text) => Some(text),
            _ => None,
        }
    }

    /// Whether such events always belong to an item.
    pub(super) fn belongs_to_item(self) -> bool {
        !matches!(self, Self::Other)
    }
}
