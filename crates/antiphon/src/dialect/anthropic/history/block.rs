//! One content block.

use serde_json::value::RawValue;

use super::media;
use crate::dialect::{Dialect, Seal};
use crate::item::Role;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// What a block becomes, raw.
pub(super) enum Piece {
    /// A part of a message.
    Part(String),
    /// An item.
    Item(String),
}

/// What the block `raw` of a message of `role` becomes. An error says why it is none.
pub(super) fn piece(raw: &str, role: Role, origin: Option<&Origin>) -> Result<Piece, String> {
    let block = Object::parse(raw.as_bytes()).map_err(|error| error.to_string())?;
    let kind = block.string("type").ok_or("type: field required")?;
    Ok(match (&*kind, role) {
        ("text", _) => Piece::Part(quoted_text(role, required(&block, "text", '"')?)),
        ("tool_use", Role::Assistant) => Piece::Item(function_call(&block)?),
        ("tool_result", Role::User) => Piece::Item(function_call_output(&block)?),
        ("thinking", Role::Assistant) => Piece::Item(reasoning(&block, raw, origin)?),
        ("redacted_thinking", Role::Assistant) if origin.is_some() => {
            Piece::Item(redacted_reasoning(raw, origin))
        }
        ("tool_use" | "tool_result" | "thinking", _) => {
            return Err(format!("a '{kind}' block stands in no message of this role"));
        }
        (kind, Role::User) => match media::part(kind, &block)? {
            Some(part) => Piece::Part(part),
            None => Piece::Item(extension(kind, raw, r#","role":"user""#)),
        },
        (kind, _) => Piece::Item(extension(kind, raw, "")),
    })
}

/// The part that a raw text is in a message of `role`.
pub(super) fn quoted_text(role: Role, raw: &str) -> String {
    match role {
        Role::Assistant => format!(r#"{{"type":"output_text","text":{raw},"annotations":[]}}"#),
        _ => format!(r#"{{"type":"input_text","text":{raw}}}"#),
    }
}

/// The raw value of a field that has to be there and begin so.
pub(super) fn required<'a>(
    block: &'a Object<'_>,
    field: &str,
    opening: char,
) -> Result<&'a str, String> {
    let raw = block.present(field).ok_or_else(|| format!("{field}: field required"))?;
    let expected = if opening == '"' { "a string" } else { "an object" };
    let fits = raw.starts_with(opening);
    fits.then_some(raw).ok_or_else(|| format!("{field}: {expected} is expected"))
}

fn function_call(block: &Object<'_>) -> Result<String, String> {
    let call_id = required(block, "id", '"')?;
    let name = required(block, "name", '"')?;
    let arguments = quote(required(block, "input", '{')?);
    Ok(format!(
        r#"{{"type":"function_call","call_id":{call_id},"name":{name},"arguments":{arguments}}}"#
    ))
}

fn function_call_output(block: &Object<'_>) -> Result<String, String> {
    let call_id = required(block, "tool_use_id", '"')?;
    let output = match block.present("content") {
        None => r#""""#.to_owned(),
        Some(raw) if raw.starts_with('"') => raw.to_owned(),
        Some(raw) => parts(raw)?,
    };
    Ok(format!(r#"{{"type":"function_call_output","call_id":{call_id},"output":{output}}}"#))
}

/// The blocks of a result as the parts of an output.
fn parts(raw: &str) -> Result<String, String> {
    let blocks: Vec<&RawValue> = serde_json::from_str(raw)
        .map_err(|_| "content: neither a text nor an array of blocks".to_owned())?;
    let parts: Result<Vec<String>, String> = blocks.iter().map(|block| part(block.get())).collect();
    Ok(format!("[{}]", parts?.join(",")))
}

fn part(raw: &str) -> Result<String, String> {
    let block = Object::parse(raw.as_bytes()).map_err(|error| error.to_string())?;
    let kind = block.string("type").ok_or("type: field required")?;
    if kind == "text" {
        return Ok(quoted_text(Role::User, required(&block, "text", '"')?));
    }
    let part = media::part(&kind, &block)?;
    Ok(part.unwrap_or_else(|| extension(&kind, raw, "")))
}

fn reasoning(block: &Object<'_>, raw: &str, origin: Option<&Origin>) -> Result<String, String> {
    let text = required(block, "thinking", '"')?;
    let content = match text {
        r#""""# => String::new(),
        text => format!(r#","content":[{{"type":"reasoning_text","text":{text}}}]"#),
    };
    let signature = block.string("signature").unwrap_or_default();
    let sealed = match &*signature {
        "" => String::new(),
        // What another provider sealed, and an Anthropic client was given for a signature.
        seal if Seal::parse(seal).is_some() => encrypted_content(seal),
        _ => sealed(raw, origin),
    };
    Ok(format!(r#"{{"type":"reasoning","summary":[]{content}{sealed}}}"#))
}

fn redacted_reasoning(raw: &str, origin: Option<&Origin>) -> String {
    format!(r#"{{"type":"reasoning","summary":[]{}}}"#, sealed(raw, origin))
}

/// The field that carries the block back to its maker.
fn sealed(raw: &str, origin: Option<&Origin>) -> String {
    let Some(origin) = origin else { return String::new() };
    let seal =
        Seal { dialect: Dialect::Anthropic, origin: origin.clone(), content: raw.to_owned() };
    encrypted_content(&seal.to_text())
}

fn encrypted_content(text: &str) -> String {
    format!(r#","encrypted_content":{}"#, quote(text))
}

fn extension(kind: &str, raw: &str, more: &str) -> String {
    let kind = quote(&format!("anthropic:{kind}"));
    format!(r#"{{"type":{kind},"content":{raw}{more}}}"#)
}
