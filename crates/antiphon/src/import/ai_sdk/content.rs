//! Converts the content of user and tool messages.

use super::{required_string, text_part};
use crate::import::output::{FilePlace, Output, array, file_part, input_text, text_of};
use crate::json::{Object, quote, unquote};

/// The parts of a user message as raw content.
pub(super) fn input_parts(parts: &[Object<'_>], output: &mut Output) -> Result<String, String> {
    let mut content = Vec::with_capacity(parts.len());
    for (nth, part) in parts.iter().enumerate() {
        let converted = input_part(part).map_err(|reason| format!("content[{nth}].{reason}"))?;
        match converted {
            Some(part) => content.push(part),
            None => output.omit(&part.string("type").unwrap_or_default()),
        }
    }
    Ok(array(&content))
}

/// The equivalent part of an item; `None` if there is none.
fn input_part(part: &Object<'_>) -> Result<Option<String>, String> {
    Ok(match &*part.string("type").unwrap_or_default() {
        "text" => Some(text_part(part)?),
        "image" | "image-data" | "image-url" | "image-file-id" => Some(file(part, "image")?),
        "file" | "file-data" | "file-url" | "file-id" | "media" => Some(file(part, "")?),
        _ => None,
    })
}

fn file(part: &Object<'_>, media_type: &str) -> Result<String, String> {
    let media_type = part.string("mediaType").unwrap_or(media_type.into());
    let filename = part.string("filename");
    if let Some(id) = part.string("fileId") {
        return Ok(file_part(&media_type, &FilePlace::Id(&id), filename.as_deref()));
    }
    let (field, raw) = ["data", "image", "url"]
        .into_iter()
        .find_map(|field| Some((field, part.present(field)?)))
        .ok_or("data: a URL or base64 is expected")?;
    let text = unquote(raw).or_else(|| inner_text(raw));
    let text = text.ok_or_else(|| format!("{field}: a URL or base64 is expected"))?;
    Ok(file_part(&media_type, &FilePlace::parse(&text), filename.as_deref()))
}

/// The text in tagged data, the form of version 7.
fn inner_text(raw: &str) -> Option<std::borrow::Cow<'static, str>> {
    let data = Object::parse_str(raw).ok()?;
    let text = ["url", "data", "text"].into_iter().find_map(|field| data.string(field));
    text.map(|text| text.into_owned().into())
}

/// Converts the results in a tool message.
pub(super) fn convert_results(parts: &[Object<'_>], output: &mut Output) -> Result<(), String> {
    for (nth, part) in parts.iter().enumerate() {
        match &*part.string("type").unwrap_or_default() {
            "tool-result" => {
                result(part, output).map_err(|reason| format!("content[{nth}].{reason}"))?;
            }
            // It answers a question of the program, not a call of the model.
            "tool-approval-response" => {}
            kind => output.omit(kind),
        }
    }
    Ok(())
}

fn result(part: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let call_id = required_string(part, "toolCallId")?;
    let text = match (part.object("output"), part.present("result")) {
        (Some(result), _) => output_of(&result, output)?,
        // In version 4, the result is the bare value.
        (None, Some(result)) => text_of(result),
        (None, None) => return Err("output: an object is expected".to_owned()),
    };
    output.output(call_id, &text)
}

fn output_of(result: &Object<'_>, output: &mut Output) -> Result<String, String> {
    let value = result.get("value");
    match &*result.string("type").unwrap_or_default() {
        "content" => {
            let parts = value.unwrap_or("[]");
            input_parts(&super::parts_of(parts)?, output)
        }
        "execution-denied" => {
            let reason = result.string("reason");
            Ok(quote(reason.as_deref().unwrap_or("Tool execution denied.")))
        }
        _ => Ok(text_of(value.unwrap_or(r#""""#))),
    }
}

/// The output of a tool in a UI message: a text, or any JSON.
pub(super) fn ui_output(raw: Option<&str>) -> String {
    text_of(raw.unwrap_or(r#""""#))
}

/// The texts of a system message, concatenated.
pub(super) fn joined_texts(parts: &[Object<'_>]) -> String {
    let texts: Vec<_> = parts.iter().filter_map(|part| part.string("text")).collect();
    let text: String = texts.iter().map(|text| &**text).collect();
    array(&[input_text(&quote(&text))])
}
