//! The content of a message: a string or parts.

use super::field::Field;
use crate::Refusal;

/// The part types. Each part has one field with the name of its type.
const PARTS: [&str; 6] = ["text", "image_url", "input_audio", "refusal", "audio", "file"];

pub(super) fn check(index: usize, role: &str, message: &Field<'_>) -> Result<(), Refusal> {
    let Some(content) = message.present("content") else {
        return absent(index, role, message);
    };
    if content.value().is_string() {
        return Ok(());
    }
    if !content.value().is_array() {
        return Err(content.wrong_type("one of a string or array of objects"));
    }
    content.array()?.iter().try_for_each(|it| part(index, role, it))
}

/// Only an assistant message may lack content, and only if it calls tools or refuses.
fn absent(index: usize, role: &str, message: &Field<'_>) -> Result<(), Refusal> {
    let mut instead = ["tool_calls", "function_call", "refusal", "audio"].iter();
    if role == "assistant" && instead.any(|field| message.present(field).is_some()) {
        return Ok(());
    }
    if role != "assistant" {
        message.required("content")?;
    }
    Err(Refusal::no_content(index))
}

fn part(index: usize, role: &str, part: &Field<'_>) -> Result<(), Refusal> {
    part.object()?;
    let kind = part.required("type")?.one_of(&PARTS)?;
    let allowed: &[&str] = match role {
        "user" => &["text", "image_url", "input_audio", "file"],
        "assistant" => &["text", "refusal"],
        _ => &["text"],
    };
    if kind == "image_url" && role != "user" {
        return Err(Refusal::image_not_from_user(index, role));
    }
    part.required("type")?.one_of(allowed)?;
    let held = part.required(kind)?;
    match kind {
        "text" | "refusal" => drop(held.text()?),
        "image_url" => drop(member(&held, "url")?),
        "input_audio" => drop(member(&held, "data")?),
        _ => drop(held.object()?),
    }
    part.only(&["type", kind])
}

/// A required string field of an object.
fn member<'a>(object: &Field<'a>, name: &str) -> Result<&'a str, Refusal> {
    object.object()?;
    object.required(name)?.text()
}
