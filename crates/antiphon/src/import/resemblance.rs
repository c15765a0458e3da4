//! The forms that an element fits, judged by its fields.

use serde_json::value::RawValue;

use super::form::{Forms, HistoryForm};
use super::langchain;
use crate::item::Kind;
use crate::json::Object;

/// An element that has certainly none of the known forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    /// The object that it resembles.
    pub(super) resemblance: &'static str,
    /// The objects that can be read.
    pub(super) expected: &'static str,
}

impl Foreign {
    pub(super) const fn new(resemblance: &'static str, expected: &'static str) -> Self {
        Self { resemblance, expected }
    }
}

const RESPONSES: Forms = Forms::only(HistoryForm::Responses);
const CHAT: Forms = Forms::only(HistoryForm::Chat);
const ANTHROPIC: Forms = Forms::only(HistoryForm::Anthropic);
const MODEL: Forms = Forms::only(HistoryForm::AiSdkModel);
const UI: Forms = Forms::only(HistoryForm::AiSdkUi);
const LANGCHAIN: Forms = Forms::only(HistoryForm::LangChain);

const KNOWN: &str = "an item of the Responses API, or a message of Chat Completions, Anthropic, \
                     the AI SDK or LangChain";
const WHOLE_MESSAGES: &str = "whole messages or items";

/// The forms that the element fits.
///
/// Returns an error if it has certainly none of them. A value that is not an object fits all,
/// because the conversion of each form rejects it with an error of its own.
pub(super) fn forms_of(element: &str) -> Result<Forms, Foreign> {
    let Ok(object) = Object::parse_str(element) else {
        return Ok(Forms::ALL);
    };
    if object.present("lc").is_some() {
        return Ok(LANGCHAIN);
    }
    if let Some(kind) = object.string("type") {
        return forms_of_kind(&kind, &object);
    }
    match object.string("role") {
        Some(role) => forms_of_role(&role, &object),
        None => forms_of_nameless(&object),
    }
}

fn forms_of_kind(kind: &str, object: &Object<'_>) -> Result<Forms, Foreign> {
    match Kind::parse(kind) {
        Kind::Message => forms_of_typed_message(object),
        Kind::Other(_) if langchain::is_type(kind) => forms_of_langchain(kind, object),
        Kind::Other(_) => foreign_kind(kind, object).map_or(Ok(RESPONSES), Err),
        _ => Ok(RESPONSES),
    }
}

/// Anthropic's responses also have the type `message`, and clients store them unchanged.
fn forms_of_typed_message(object: &Object<'_>) -> Result<Forms, Foreign> {
    if object.get("content").is_none() && object.get("contents").is_some() {
        return Err(Foreign::new("a message of Agent Framework", KNOWN));
    }
    if object.present("tool_calls").is_some() {
        return Ok(CHAT);
    }
    let blocks = object.objects("content");
    let kinds = blocks.iter().filter_map(|block| block.string("type"));
    let is_own =
        |kind: &str| matches!(kind, "tool_use" | "tool_result" | "thinking" | "redacted_thinking");
    Ok(if kinds.into_iter().any(|kind| is_own(&kind)) { ANTHROPIC } else { RESPONSES })
}

fn forms_of_langchain(kind: &str, object: &Object<'_>) -> Result<Forms, Foreign> {
    let has_content = object.get("content").is_some() || object.object("data").is_some();
    match (has_content, langchain::is_unmistakable(kind)) {
        (true, _) => Ok(LANGCHAIN),
        (false, true) => Err(Foreign::new(
            "a LangChain message",
            "its 'content', or its fields in 'data' as messages_to_dict writes them",
        )),
        // A newer kind of item may have the type `tool` or `system`.
        (false, false) => Ok(RESPONSES),
    }
}

/// Types of objects that are no elements of a history, each with a field that they have.
const FOREIGN: [(&str, &str, &str); 11] = [
    ("tool_use", "input", "a content block of an Anthropic message"),
    ("tool_result", "tool_use_id", "a content block of an Anthropic message"),
    ("thinking", "thinking", "a content block of an Anthropic message"),
    ("tool-call", "toolCallId", "a part of an AI SDK message"),
    ("tool-result", "toolCallId", "a part of an AI SDK message"),
    ("dynamic-tool", "toolCallId", "a part of an AI SDK message"),
    ("function", "function", "a tool call of a Chat Completions message"),
    ("tool_call", "args", "a tool call of a LangChain message"),
    ("text", "text", "a part of a message"),
    ("input_text", "text", "a part of a message"),
    ("output_text", "text", "a part of a message"),
];

fn foreign_kind(kind: &str, object: &Object<'_>) -> Option<Foreign> {
    let has = |field: &str| object.present(field).is_some();
    let is_event = kind.starts_with("response.") && has("sequence_number");
    let is_ui_tool = kind.starts_with("tool-") && has("toolCallId");
    let resemblance = match () {
        () if is_event => Some("an event of a stream of the Responses API"),
        () if is_ui_tool => Some("a part of an AI SDK message"),
        () => FOREIGN
            .iter()
            .find(|(name, field, _)| *name == kind && has(field))
            .map(|(_, _, resemblance)| *resemblance),
    };
    resemblance.map(|resemblance| Foreign::new(resemblance, WHOLE_MESSAGES))
}

/// An element with neither `type` nor `role` is a reference if it only has an id.
fn forms_of_nameless(object: &Object<'_>) -> Result<Forms, Foreign> {
    if object.present("id").is_none() || present_fields(object) == 1 {
        return Ok(RESPONSES);
    }
    let resemblance = match object.string("object").as_deref() {
        Some("chat.completion" | "chat.completion.chunk") => "an answer of Chat Completions",
        Some("response") => "a response, not an item of its output",
        _ => "an object with neither 'type' nor 'role'",
    };
    Err(Foreign::new(resemblance, KNOWN))
}

fn forms_of_role(role: &str, message: &Object<'_>) -> Result<Forms, Foreign> {
    if message.get("parts").is_some_and(|parts| parts.starts_with('[')) {
        return forms_of_parts(message);
    }
    // Version 4 of the AI SDK.
    if message.present("toolInvocations").is_some() {
        return Ok(UI);
    }
    let forms = match role {
        "user" | "assistant" | "system" => RESPONSES | CHAT | ANTHROPIC | MODEL | LANGCHAIN,
        "developer" => RESPONSES | CHAT | LANGCHAIN,
        "tool" => CHAT | MODEL,
        "function" => CHAT,
        // Conversation items may have these roles.
        "unknown" | "critic" | "discriminator" => RESPONSES,
        _ => return Err(Foreign::new("a message of an unknown role", KNOWN)),
    };
    let allowed = forms_by_fields(message);
    let has_content = message.get("content").is_some() || allowed != Forms::ALL;
    if !has_content && present_fields(message) > 1 {
        return Err(Foreign::new("a message without 'content'", KNOWN));
    }
    let forms = forms & allowed & forms_by_content(message)?;
    let mixture = Foreign::new("a message with fields of several APIs", "those of one");
    if forms.is_empty() { Err(mixture) } else { Ok(forms) }
}

/// The forms that have all the parts of the message's content.
fn forms_by_content(message: &Object<'_>) -> Result<Forms, Foreign> {
    let content = message.get("content").filter(|content| content.starts_with('['));
    let parts: Vec<&RawValue> =
        content.and_then(|content| serde_json::from_str(content).ok()).unwrap_or_default();
    parts.iter().try_fold(Forms::ALL, |forms, part| Ok(forms & forms_of_part(part.get())?))
}

fn present_fields(object: &Object<'_>) -> usize {
    object.iter().filter(|(_, raw)| *raw != "null").count()
}

/// Messages whose parts have no type belong to Google's API.
fn forms_of_parts(message: &Object<'_>) -> Result<Forms, Foreign> {
    let parts = message.objects("parts");
    let is_typed = parts.iter().all(|part| part.string("type").is_some());
    let gemini = Foreign::new("a content of the Gemini API", KNOWN);
    if is_typed { Ok(UI) } else { Err(gemini) }
}

/// The forms that allow the fields of the message.
fn forms_by_fields(message: &Object<'_>) -> Forms {
    const OWN: [(&str, Forms); 8] = [
        ("tool_calls", CHAT),
        ("function_call", CHAT),
        ("tool_call_id", CHAT),
        ("refusal", CHAT),
        ("audio", CHAT),
        ("reasoning_content", CHAT),
        ("providerOptions", MODEL),
        ("stop_reason", ANTHROPIC),
    ];
    let own = OWN.into_iter().filter(|(field, _)| message.present(field).is_some());
    own.fold(Forms::ALL, |forms, (_, own)| forms & own)
}

/// The forms that allow this part in the content of a message. An unknown part fits all.
fn forms_of_part(raw: &str) -> Result<Forms, Foreign> {
    let Ok(part) = Object::parse_str(raw) else {
        return Ok(if raw.starts_with('"') { LANGCHAIN } else { Forms::ALL });
    };
    let Some(kind) = part.string("type") else {
        return forms_of_untyped_part(&part);
    };
    let has = |field: &str| part.present(field).is_some();
    Ok(match &*kind {
        "input_text"
        | "output_text"
        | "input_image"
        | "input_file"
        | "summary_text"
        | "computer_screenshot" => RESPONSES,
        "refusal" | "input_audio" => RESPONSES | CHAT,
        "text" => CHAT | ANTHROPIC | MODEL | LANGCHAIN,
        "image_url" => CHAT | LANGCHAIN,
        "file" if has("file") => CHAT | LANGCHAIN,
        "file" if has("mediaType") => MODEL,
        "image" if has("image") => MODEL,
        "image" | "document" if has("source") => ANTHROPIC,
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
        | "search_result" | "container_upload" => ANTHROPIC,
        "tool-call"
        | "tool-result"
        | "tool-approval-request"
        | "tool-approval-response"
        | "reasoning"
        | "reasoning-file"
        | "custom" => MODEL,
        kind if kind.ends_with("_tool_result") && has("tool_use_id") => ANTHROPIC,
        _ => Forms::ALL,
    })
}

fn forms_of_untyped_part(part: &Object<'_>) -> Result<Forms, Foreign> {
    const CONVERSE: [&str; 6] =
        ["text", "toolUse", "toolResult", "reasoningContent", "cachePoint", "image"];
    if CONVERSE.iter().any(|field| part.present(field).is_some()) {
        return Err(Foreign::new(
            "a message of the Amazon Bedrock Converse API",
            "parts with a 'type'",
        ));
    }
    Ok(Forms::ALL)
}
