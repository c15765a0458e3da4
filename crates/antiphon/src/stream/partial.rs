//! What an open item has said so far, so that it can be closed when nothing more comes.

use crate::item::Item;
use crate::json::Object;

/// The text of an open item as far as it has come. Kept as it came, escaped: pieces of a JSON
/// string's inside, put together, are the inside of one JSON string.
#[derive(Clone, Debug)]
pub(super) struct Partial {
    announced: Item,
    parts: Vec<Part>,
    payload: Option<(&'static str, String)>,
}

#[derive(Clone, Debug)]
struct Part {
    list: &'static str,
    index: u64,
    kind: &'static str,
    text: String,
}

/// Where an event's text belongs.
enum Target {
    Part {
        list: &'static str,
        index: u64,
        kind: &'static str,
    },
    Payload(&'static str),
}

impl Partial {
    pub(super) fn new(announced: Item) -> Self {
        Self {
            announced,
            parts: Vec::new(),
            payload: None,
        }
    }

    /// The item as it was announced.
    pub(super) fn announced(&self) -> &Item {
        &self.announced
    }

    /// Takes the text out of an event that belongs to the item; events without text change nothing.
    pub(super) fn hear(&mut self, kind: &str, event: &Object<'_>) {
        let Some((target, field, whole)) = target(kind, event) else {
            return;
        };
        let Some(piece) = event.get(field).and_then(inside) else {
            return;
        };
        let text = self.text_of(target);
        if whole {
            text.clear();
        }
        text.push_str(piece);
    }

    fn text_of(&mut self, target: Target) -> &mut String {
        match target {
            Target::Payload(field) => &mut self.payload.get_or_insert((field, String::new())).1,
            Target::Part { list, index, kind } => {
                let known = |part: &Part| part.list == list && part.index == index;
                let at = self.parts.iter().rposition(known).unwrap_or_else(|| {
                    self.parts.push(Part {
                        list,
                        index,
                        kind,
                        text: String::new(),
                    });
                    self.parts.len() - 1
                });
                &mut self.parts[at].text
            }
        }
    }

    /// Whether it has said anything.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.text.is_empty()) && self.payload.is_none()
    }

    /// The item with what it has said so far, closed with this status.
    pub(super) fn close(&self, status: &str) -> Item {
        self.announced.with(|object| {
            for list in ["content", "summary"] {
                if let Some(array) = self.array(list) {
                    object.set(list, array);
                }
            }
            if let Some((field, text)) = &self.payload {
                object.set(*field, format!(r#""{text}""#));
            }
            object.set_string("status", status);
        })
    }

    fn array(&self, list: &str) -> Option<String> {
        let mut parts: Vec<&Part> = self.parts.iter().filter(|part| part.list == list).collect();
        parts.sort_by_key(|part| part.index);
        let texts: Vec<String> = parts.into_iter().map(Part::to_text).collect();
        (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")))
    }
}

impl Part {
    fn to_text(&self) -> String {
        let Part { kind, text, .. } = self;
        match *kind {
            "output_text" => format!(
                r#"{{"type":"output_text","text":"{text}","annotations":[],"logprobs":[]}}"#
            ),
            "refusal" => format!(r#"{{"type":"refusal","refusal":"{text}"}}"#),
            kind => format!(r#"{{"type":"{kind}","text":"{text}"}}"#),
        }
    }
}

/// Which text an event carries, in which of its fields, and whether it is the whole of it.
fn target(kind: &str, event: &Object<'_>) -> Option<(Target, &'static str, bool)> {
    let index = |key| event.get(key).and_then(|raw| raw.parse().ok()).unwrap_or(0);
    let content = |kind| Target::Part {
        list: "content",
        index: index("content_index"),
        kind,
    };
    let summary = Target::Part {
        list: "summary",
        index: index("summary_index"),
        kind: "summary_text",
    };
    Some(match kind.strip_prefix("response.")? {
        "output_text.delta" => (content("output_text"), "delta", false),
        "output_text.done" => (content("output_text"), "text", true),
        "refusal.delta" => (content("refusal"), "delta", false),
        "refusal.done" => (content("refusal"), "refusal", true),
        "reasoning_text.delta" | "reasoning.delta" => (content("reasoning_text"), "delta", false),
        "reasoning_text.done" | "reasoning.done" => (content("reasoning_text"), "text", true),
        "reasoning_summary_text.delta" => (summary, "delta", false),
        "reasoning_summary_text.done" => (summary, "text", true),
        "function_call_arguments.delta" | "mcp_call_arguments.delta" => {
            (Target::Payload("arguments"), "delta", false)
        }
        "function_call_arguments.done" | "mcp_call_arguments.done" => {
            (Target::Payload("arguments"), "arguments", true)
        }
        "custom_tool_call_input.delta" => (Target::Payload("input"), "delta", false),
        "custom_tool_call_input.done" => (Target::Payload("input"), "input", true),
        "code_interpreter_call_code.delta" => (Target::Payload("code"), "delta", false),
        "code_interpreter_call_code.done" => (Target::Payload("code"), "code", true),
        _ => return None,
    })
}

/// The inside of a raw JSON string.
fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}
