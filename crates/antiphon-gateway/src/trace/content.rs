//! The text of items in attributes, which only an operator's setting allows.
//!
//! The form is that of the convention's JSON schemas: messages with a role and parts. Encrypted
//! content, URLs and the bytes of images and files are never included: a part of another type has
//! only its type. Everything has a bound.

use antiphon::json::{Object, quote};
use antiphon::stream::Output;
use antiphon::{Item, Kind};

use super::log_span::shortened;

/// The maximum size of an attribute, in bytes before JSON's escapes.
const MAX_ATTRIBUTE: usize = 32 << 10;

/// The maximum length of a text, in characters.
const MAX_PART: usize = 8 << 10;

/// Messages as JSON.
pub(super) struct Messages {
    pub(super) json: String,
    /// How many of the oldest were left out because there are too many.
    pub(super) omitted: i64,
}

/// The newest items of a model's input that the bound allows, in order.
pub(super) fn input_messages(view: &[Item]) -> Messages {
    let mut messages = Vec::new();
    let mut room = MAX_ATTRIBUTE;
    for item in view.iter().rev() {
        let Some(message) = message(item) else { continue };
        if message.len() > room {
            break;
        }
        room -= message.len();
        messages.push(message);
    }
    let all = view.iter().filter(|item| is_shown(item)).count();
    let omitted = i64::try_from(all - messages.len()).unwrap_or(i64::MAX);
    messages.reverse();
    Messages { json: format!("[{}]", messages.join(",")), omitted }
}

/// The output as one message: an answer of the Responses API has one choice.
pub(super) fn output_messages(output: &[Output], finish_reason: &str) -> String {
    let mut parts = Vec::new();
    let mut room = MAX_ATTRIBUTE;
    for output in output {
        for part in item_parts(&output.announced) {
            if part.len() <= room {
                room -= part.len();
                parts.push(part);
            }
        }
    }
    let reason = quote(finish_reason);
    format!(r#"[{{"role":"assistant","parts":[{}],"finish_reason":{reason}}}]"#, parts.join(","))
}

/// The instructions of a request, which the API has outside of its items.
pub(super) fn system_instructions(fields: &Object<'_>) -> Option<String> {
    let instructions = fields.string("instructions")?;
    Some(format!("[{}]", text_part("text", &instructions)))
}

/// Whether the item becomes a message.
fn is_shown(item: &Item) -> bool {
    !matches!(item.head().kind, Kind::ItemReference | Kind::CompactionTrigger)
}

fn message(item: &Item) -> Option<String> {
    if !is_shown(item) {
        return None;
    }
    let object = item.object();
    let role = object.string("role").unwrap_or_else(|| implied_role(item).into());
    let parts = item_parts(item).join(",");
    Some(format!(r#"{{"role":{},"parts":[{parts}]}}"#, quote(&role)))
}

/// The role of an item without one.
fn implied_role(item: &Item) -> &'static str {
    match item.head().kind.call() {
        Some(_) => "tool",
        None => "assistant",
    }
}

fn item_parts(item: &Item) -> Vec<String> {
    let (object, kind) = (item.object(), &item.head().kind);
    match kind {
        Kind::Message => content_parts(object.present("content").unwrap_or("[]")),
        Kind::Reasoning => {
            let parts = object.present("summary").map(content_texts).unwrap_or_default();
            vec![text_part("reasoning", &parts.join("\n"))]
        }
        kind if kind.output().is_some() => vec![call_part(&object, kind)],
        kind if kind.call().is_some() => vec![response_part(&object)],
        other => vec![bare_part(other.as_str())],
    }
}

/// The parts of a content: a string, or a list of parts.
fn content_parts(content: &str) -> Vec<String> {
    if let Some(text) = antiphon::json::unquote(content) {
        return vec![text_part("text", &text)];
    }
    let parts: Vec<Object<'_>> = serde_json::from_str(content).unwrap_or_default();
    let part = |part: &Object<'_>| match part.string("text").or_else(|| part.string("refusal")) {
        Some(text) => text_part("text", &text),
        None => bare_part(&part.string("type").unwrap_or_default()),
    };
    parts.iter().map(part).collect()
}

fn content_texts(content: &str) -> Vec<String> {
    let parts: Vec<Object<'_>> = serde_json::from_str(content).unwrap_or_default();
    parts.iter().filter_map(|part| Some(part.string("text")?.into_owned())).collect()
}

fn call_part(object: &Object<'_>, kind: &Kind) -> String {
    let id = object.string("call_id").unwrap_or_default();
    let name = object.string("name").unwrap_or_else(|| kind.as_str().into());
    let arguments = object.string("arguments").or_else(|| object.string("input"));
    let arguments = arguments.unwrap_or_default();
    format!(
        r#"{{"type":"tool_call","id":{},"name":{},"arguments":{}}}"#,
        quote(shortened(&id, MAX_PART)),
        quote(shortened(&name, MAX_PART)),
        quote(shortened(&arguments, MAX_PART)),
    )
}

fn response_part(object: &Object<'_>) -> String {
    let id = object.string("call_id").unwrap_or_default();
    let output = object.present("output").unwrap_or("null");
    let text = match antiphon::json::unquote(output) {
        Some(text) => text.into_owned(),
        None => content_texts(output).join("\n"),
    };
    format!(
        r#"{{"type":"tool_call_response","id":{},"response":{}}}"#,
        quote(shortened(&id, MAX_PART)),
        quote(shortened(&text, MAX_PART)),
    )
}

fn text_part(kind: &str, text: &str) -> String {
    format!(r#"{{"type":"{kind}","content":{}}}"#, quote(shortened(text, MAX_PART)))
}

/// A part of which only the type is shown.
fn bare_part(kind: &str) -> String {
    format!(r#"{{"type":{}}}"#, quote(shortened(kind, MAX_PART)))
}
