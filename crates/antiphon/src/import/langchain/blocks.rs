//! Converts the content blocks of client messages.

use serde_json::value::RawValue;

use super::{is_item, without_index};
use crate::import::output::{FilePlace, Output, array, file_part, input_text, text_of};
use crate::json::Object;

/// The blocks as raw content. Blocks that are items of their own are added to `output` first.
/// Returns `None` if there are only such blocks.
pub(super) fn convert_content(
    content: &str,
    output: &mut Output,
) -> Result<Option<String>, String> {
    let raws = raws(content)?;
    let mut parts = Vec::with_capacity(raws.len());
    let mut has_items = false;
    for raw in &raws {
        let Ok(block) = Object::parse_str(raw.get()) else {
            parts.push(input_text(&text_of(raw.get())));
            continue;
        };
        let kind = block.string("type").unwrap_or_default();
        match &*kind {
            "tool_result" => {
                has_items = true;
                tool_result(&block, output)?;
            }
            kind if is_item(kind) => {
                has_items = true;
                output.push(&without_index(&block))?;
            }
            kind => match part(kind, &block, raw.get()) {
                Some(part) => parts.push(part),
                None => output.omit(kind),
            },
        }
    }
    let is_nothing = has_items && parts.is_empty();
    Ok((!is_nothing).then(|| array(&parts)))
}

pub(super) fn raws(content: &str) -> Result<Vec<&RawValue>, String> {
    serde_json::from_str(content).map_err(|_| "content: a string or blocks are expected".to_owned())
}

fn tool_result(block: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let call_id = block.get("tool_use_id").filter(|raw| raw.starts_with('"'));
    let call_id = call_id.ok_or("tool_use_id: a string is expected")?;
    let content = block.present("content").unwrap_or(r#""""#);
    if content.starts_with('[') {
        let content = convert_content(content, output)?;
        return output.output(call_id, content.as_deref().unwrap_or(r#""""#));
    }
    output.output(call_id, &text_of(content))
}

/// The block as a part of a message; `None` if messages have no such part.
fn part(kind: &str, block: &Object<'_>, raw: &str) -> Option<String> {
    match kind {
        "text" => Some(input_text(block.get("text").filter(|text| text.starts_with('"'))?)),
        "input_text" | "input_image" | "input_file" | "input_audio" => Some(raw.to_owned()),
        "image_url" => image_url(block),
        "image" => file("image/png", block),
        "file" => match block.object("file") {
            Some(inner) => chat_file(&inner),
            None => file("application/octet-stream", block),
        },
        "text-plain" => file("text/plain", block),
        _ => None,
    }
}

fn image_url(block: &Object<'_>) -> Option<String> {
    let url = match block.object("image_url") {
        Some(image) => image.string("url")?.into_owned(),
        None => block.string("image_url")?.into_owned(),
    };
    Some(file_part("image", &FilePlace::parse(&url), None))
}

fn chat_file(file: &Object<'_>) -> Option<String> {
    let name = file.string("filename");
    if let Some(id) = file.string("file_id") {
        return Some(file_part("", &FilePlace::Id(&id), name.as_deref()));
    }
    let content = file.string("file_data")?;
    Some(file_part("", &FilePlace::parse(&content), name.as_deref()))
}

/// A file in a block of LangChain's own, of the current or the older form.
fn file(media_type: &str, block: &Object<'_>) -> Option<String> {
    let media_type = block.string("mime_type").unwrap_or(media_type.into());
    let name = block.string("filename");
    let text = |field: &str| block.string(field);
    let of_id = block.string("source_type").is_some_and(|sort| sort == "id");
    let id = text("file_id").or_else(|| text("id").filter(|_| of_id));
    if let Some(id) = id {
        return Some(file_part(&media_type, &FilePlace::Id(&id), name.as_deref()));
    }
    if let Some(url) = text("url") {
        return Some(file_part(&media_type, &FilePlace::parse(&url), name.as_deref()));
    }
    let bytes = text("base64").or_else(|| text("data"))?;
    Some(file_part(&media_type, &FilePlace::Base64(&bytes), name.as_deref()))
}

/// A block of a tool message that is an output of another kind than a function's.
pub(super) fn typed_output(content: &str, call_id: &str) -> Option<Object<'static>> {
    let raws = raws(content).ok()?;
    let blocks = raws.iter().filter_map(|raw| Object::parse_str(raw.get()).ok());
    let is_output = |block: &Object<'_>| {
        let kind = block.string("type");
        matches!(kind.as_deref(), Some("custom_tool_call_output" | "computer_call_output"))
    };
    blocks.into_iter().find(is_output).map(|block| {
        let mut item = without_index(&block);
        item.set("call_id", call_id.to_owned());
        item
    })
}
