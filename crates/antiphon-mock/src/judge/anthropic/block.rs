//! The rules for one content block.

use super::field::Field;
use crate::Refusal;

/// The block types that a message may contain.
pub(super) const KINDS: [&str; 18] = [
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "container_upload",
    "document",
    "image",
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_result",
    "tool_search_tool_result",
    "tool_use",
    "web_fetch_tool_result",
    "web_search_tool_result",
];
const IN_RESULTS: [&str; 5] = ["document", "image", "search_result", "text", "tool_reference"];
const CALL_ID: &str = "^[a-zA-Z0-9_-]+$";

/// Checks a block of any type in `kinds` and returns its type.
pub(super) fn check<'a>(block: &Field<'a>, kinds: &[&str]) -> Result<&'a str, Refusal> {
    let kind = block.tag(kinds)?;
    let typed = block.as_a(kind);
    match kind {
        "text" => text(&typed)?,
        "image" => image(&typed)?,
        "tool_use" => tool_use(&typed)?,
        "tool_result" => tool_result(&typed)?,
        "thinking" => thinking(&typed)?,
        "redacted_thinking" => redacted_thinking(&typed)?,
        // Blocks of the provider's own tools are sent back unchanged.
        _ => {}
    }
    Ok(kind)
}

fn text(block: &Field<'_>) -> Result<(), Refusal> {
    block.required("text")?.text()?;
    block.only(&["type", "text", "cache_control", "citations"])
}

fn image(block: &Field<'_>) -> Result<(), Refusal> {
    let source = block.required("source")?;
    let kind = source.tag(&["base64", "file", "url"])?;
    let typed = source.as_a(kind);
    match kind {
        "base64" => {
            typed.required("data")?.text()?;
            media_type(&typed.required("media_type")?)?;
        }
        "url" => drop(typed.required("url")?.text()?),
        _ => drop(typed.required("file_id")?.text()?),
    }
    block.only(&["type", "source", "cache_control"])
}

fn media_type(field: &Field<'_>) -> Result<(), Refusal> {
    match field.text()? {
        "image/jpeg" | "image/png" | "image/gif" | "image/webp" => Ok(()),
        _ => Err(field.should_be("'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")),
    }
}

fn tool_use(block: &Field<'_>) -> Result<(), Refusal> {
    block.required("id")?.name(usize::MAX, CALL_ID)?;
    block.required("name")?.text()?;
    block.required("input")?.object()?;
    block.only(&["type", "id", "name", "input", "cache_control", "caller"])
}

fn tool_result(block: &Field<'_>) -> Result<(), Refusal> {
    block.required("tool_use_id")?.name(usize::MAX, CALL_ID)?;
    if let Some(content) = block.present("content").filter(|it| !it.value().is_string()) {
        content.array()?.iter().try_for_each(|it| check(it, &IN_RESULTS).map(drop))?;
    }
    block.only(&["type", "tool_use_id", "content", "is_error", "cache_control"])
}

fn thinking(block: &Field<'_>) -> Result<(), Refusal> {
    block.required("signature")?.text()?;
    block.required("thinking")?.text()?;
    block.only(&["type", "thinking", "signature"])
}

fn redacted_thinking(block: &Field<'_>) -> Result<(), Refusal> {
    block.required("data")?.text()?;
    block.only(&["type", "data"])
}
