//! The forms that allow a part in the content of a message.

use super::form::{Forms, HistoryForm};
use super::resemblance::Foreign;
use crate::json::Object;

const RESPONSES: Forms = Forms::only(HistoryForm::Responses);
const CHAT: Forms = Forms::only(HistoryForm::Chat);
const ANTHROPIC: Forms = Forms::only(HistoryForm::Anthropic);
const MODEL: Forms = Forms::only(HistoryForm::AiSdkModel);
const LANGCHAIN: Forms = Forms::only(HistoryForm::LangChain);

/// The forms that allow this part in the content of a message. An unknown part fits all.
pub(super) fn forms_of_part(raw: &str) -> Result<Forms, Foreign> {
    let Ok(part) = Object::parse_str(raw) else {
        return Ok(if raw.starts_with('"') { LANGCHAIN } else { Forms::ALL });
    };
    let Some(kind) = part.string("type") else {
        return of_untyped(&part);
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

fn of_untyped(part: &Object<'_>) -> Result<Forms, Foreign> {
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
