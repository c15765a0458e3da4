//! What the events within an item tell of: texts that come in pieces, and the parts that hold them.
//!
//! Source: the event tables of the Responses API and of Open Responses. Where the two name one
//! event differently (`reasoning_text`, `reasoning`), both are understood.

use crate::item::Kind;

/// A list of parts in an item, and the events that open and close one of them.
#[derive(Debug)]
pub(super) struct PartList {
    /// The item's field.
    pub(super) key: &'static str,
    /// The events' field that says which part.
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

/// A part as it is before anything is said in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartShape {
    pub(super) list: &'static PartList,
    /// Its `type`.
    pub(super) name: &'static str,
    /// The whole of it, as JSON.
    pub(super) empty: &'static str,
}

/// A text that comes in pieces: a `delta` event for each, then `done` with the whole of it.
#[derive(Debug)]
pub(super) struct TextKind {
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// Where `done`, and the part or the item that holds the text, carry the whole.
    pub(super) field: &'static str,
    /// The kind of item that speaks so.
    pub(super) speaker: Kind,
    /// The part that holds the text; `None` where the text is a field of the item itself.
    pub(super) part: Option<PartShape>,
    /// Whether it is JSON, in which white space between the tokens means nothing.
    pub(super) is_json: bool,
    /// Whether its events carry `logprobs`, which clients' types require.
    pub(super) has_logprobs: bool,
}

const PLAIN: TextKind = TextKind {
    delta: "",
    done: "",
    field: "text",
    speaker: Kind::Message,
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
    speaker: Kind::Reasoning,
    part: Some(REASONING_PART),
    ..PLAIN
};

static REASONING: TextKind = TextKind {
    delta: "response.reasoning.delta",
    done: "response.reasoning.done",
    speaker: Kind::Reasoning,
    part: Some(REASONING_PART),
    ..PLAIN
};

static SUMMARY_TEXT: TextKind = TextKind {
    delta: "response.reasoning_summary_text.delta",
    done: "response.reasoning_summary_text.done",
    speaker: Kind::Reasoning,
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
    speaker: Kind::FunctionCall,
    is_json: true,
    ..PLAIN
};

static MCP_ARGUMENTS: TextKind = TextKind {
    delta: "response.mcp_call_arguments.delta",
    done: "response.mcp_call_arguments.done",
    field: "arguments",
    speaker: Kind::McpCall,
    is_json: true,
    ..PLAIN
};

static INPUT: TextKind = TextKind {
    delta: "response.custom_tool_call_input.delta",
    done: "response.custom_tool_call_input.done",
    field: "input",
    speaker: Kind::CustomToolCall,
    ..PLAIN
};

static CODE: TextKind = TextKind {
    delta: "response.code_interpreter_call_code.delta",
    done: "response.code_interpreter_call_code.done",
    field: "code",
    speaker: Kind::CodeInterpreterCall,
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
    /// The text that a part of this `type` holds in an item of kind `speaker`. What reasoning holds
    /// as output text is reasoning all the same.
    pub(super) fn of_part(part_type: &str, speaker: &Kind) -> Option<&'static Self> {
        let holds = |text: &&&TextKind| text.part.is_some_and(|part| part.name == part_type);
        let text = TEXTS.iter().find(holds).copied()?;
        if *speaker == Kind::Reasoning && text.speaker == Kind::Message {
            return Some(&REASONING_TEXT);
        }
        Some(text)
    }

    /// Whether both are the text of a part of one type.
    pub(super) fn is_in_the_same_part_as(&self, other: &Self) -> bool {
        self.part.zip(other.part).is_some_and(|(one, two)| one.name == two.name)
    }

    /// The text that an item of this kind holds in a field of its own, and always tells.
    pub(super) fn of_item(kind: &Kind) -> Option<&'static Self> {
        let always = [&ARGUMENTS, &INPUT, &MCP_ARGUMENTS];
        always.into_iter().find(|text| text.speaker == *kind)
    }
}

/// Whether items of this kind say what they say in parts.
pub(super) fn speaks_in_parts(kind: &Kind) -> bool {
    matches!(kind, Kind::Message | Kind::Reasoning)
}

/// What an event within an item tells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// A part begins.
    PartAdded(&'static PartList),
    /// A part ends.
    PartDone(&'static PartList),
    /// A piece of a text.
    Delta(&'static TextKind),
    /// The whole of a text.
    TextDone(&'static TextKind),
    /// A note on a part's text.
    Annotation,
    /// Something that is passed on as it is.
    Other,
}

const ANNOTATION: &str = "response.output_text.annotation.added";

impl Meaning {
    /// What events of this type tell.
    pub(super) fn of(kind: &str) -> Self {
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

    /// The type of such events; `None` where there are several.
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

    /// The text that the event tells of.
    pub(super) fn text(self) -> Option<&'static TextKind> {
        match self {
            Self::Delta(text) | Self::TextDone(text) => Some(text),
            _ => None,
        }
    }

    /// Whether such events always name their item.
    pub(super) fn is_of_an_item(self) -> bool {
        !matches!(self, Self::Other)
    }
}
