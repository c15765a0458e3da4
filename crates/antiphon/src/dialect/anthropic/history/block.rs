//! Converts a content block into a part of a message or into an item.

use serde_json::value::RawValue;

use super::media;
use crate::dialect::{Dialect, Seal};
use crate::item::Role;
use crate::json::{Object, quote};
use crate::transcript::Origin;

/// The Responses API form of a block, as raw JSON.
pub(super) enum Converted {
    /// A part of a message.
    Part(String),
    /// An item.
    Item(String),
}

/// Converts the block `raw` of a message with this role. The error is the reason why the block is
/// invalid.
pub(super) fn convert_block(
    raw: &str,
    role: Role,
    origin: Option<&Origin>,
) -> Result<Converted, String> {
    let block = Object::parse(raw.as_bytes()).map_err(|error| error.to_string())?;
    let kind = block.string("type").ok_or("type: field required")?;
    Ok(match (&*kind, role) {
        ("text", _) => Converted::Part(text_part(role, required_field(&block, "text", '"')?)),
        ("tool_use", Role::Assistant) => Converted::Item(function_call(&block)?),
        ("tool_result", Role::User) => Converted::Item(function_call_output(&block)?),
        ("thinking", Role::Assistant) => Converted::Item(reasoning(&block, raw, origin)?),
        ("redacted_thinking", Role::Assistant) if origin.is_some() => {
            Converted::Item(reasoning_without_text(raw, origin))
        }
        ("tool_use" | "tool_result" | "thinking", _) => {
            return Err(format!("a message with this role cannot contain a '{kind}' block"));
        }
        (kind, Role::User) => match media::part(kind, &block)? {
            Some(part) => Converted::Part(part),
            None => Converted::Item(extension(kind, raw, r#","role":"user""#)),
        },
        (kind, _) => Converted::Item(extension(kind, raw, "")),
    })
}

/// The text part for a raw JSON string in a message with this role.
pub(super) fn text_part(role: Role, raw: &str) -> String {
    match role {
        Role::Assistant => format!(r#"{{"type":"output_text","text":{raw},"annotations":[]}}"#),
        _ => format!(r#"{{"type":"input_text","text":{raw}}}"#),
    }
}

/// The raw value of a required field, which must begin with `opening`.
pub(super) fn required_field<'a>(
    block: &'a Object<'_>,
    field: &str,
    opening: char,
) -> Result<&'a str, String> {
    let raw = block.present(field).ok_or_else(|| format!("{field}: field required"))?;
    let expected = if opening == '"' { "a string" } else { "an object" };
    let fits = raw.starts_with(opening);
    fits.then_some(raw).ok_or_else(|| format!("{field}: expected {expected}"))
}

fn function_call(block: &Object<'_>) -> Result<String, String> {
    let call_id = required_field(block, "id", '"')?;
    let name = required_field(block, "name", '"')?;
    let arguments = quote(required_field(block, "input", '{')?);
    Ok(format!(
        r#"{{"type":"function_call","call_id":{call_id},"name":{name},"arguments":{arguments}}}"#
    ))
}

fn function_call_output(block: &Object<'_>) -> Result<String, String> {
    let call_id = required_field(block, "tool_use_id", '"')?;
    let output = match block.present("content") {
        None => r#""""#.to_owned(),
        Some(raw) if raw.starts_with('"') => raw.to_owned(),
        Some(raw) => parts(raw)?,
    };
    Ok(format!(r#"{{"type":"function_call_output","call_id":{call_id},"output":{output}}}"#))
}

/// Converts the blocks of a tool result into the parts of an output.
fn parts(raw: &str) -> Result<String, String> {
    let blocks: Vec<&RawValue> = serde_json::from_str(raw)
        .map_err(|_| "content: expected a string or a block array".to_owned())?;
    let parts: Result<Vec<String>, String> = blocks.iter().map(|block| part(block.get())).collect();
    Ok(format!("[{}]", parts?.join(",")))
}

fn part(raw: &str) -> Result<String, String> {
    let block = Object::parse(raw.as_bytes()).map_err(|error| error.to_string())?;
    let kind = block.string("type").ok_or("type: field required")?;
    if kind == "text" {
        return Ok(text_part(Role::User, required_field(&block, "text", '"')?));
    }
    let part = media::part(&kind, &block)?;
    Ok(part.unwrap_or_else(|| extension(&kind, raw, "")))
}

fn reasoning(block: &Object<'_>, raw: &str, origin: Option<&Origin>) -> Result<String, String> {
    let text = required_field(block, "thinking", '"')?;
    let signature = block.string("signature").unwrap_or_default();
    // The writer sends another provider's seal to Anthropic clients as the signature.
    let seal = Seal::parse(&signature);
    let encrypted = seal.as_ref().zip(origin).and_then(|(seal, origin)| seal.encrypted_by(origin));
    if let Some(encrypted) = encrypted {
        // OpenAI rejects the other form: "Invalid 'input[1].content': array too long."
        let summary = texts("summary_text", text);
        let encrypted = encrypted_content(&encrypted);
        return Ok(format!(r#"{{"type":"reasoning","summary":{summary}{encrypted}}}"#));
    }
    let content = match text {
        r#""""# => String::new(),
        text => format!(r#","content":{}"#, texts("reasoning_text", text)),
    };
    let sealed = match &seal {
        _ if signature.is_empty() => String::new(),
        Some(_) => encrypted_content(&signature),
        None => encrypted_field(raw, origin),
    };
    Ok(format!(r#"{{"type":"reasoning","summary":[]{content}{sealed}}}"#))
}

/// The parts for a raw text, which may be empty.
fn texts(kind: &str, text: &str) -> String {
    match text {
        r#""""# => "[]".to_owned(),
        text => format!(r#"[{{"type":"{kind}","text":{text}}}]"#),
    }
}

fn reasoning_without_text(raw: &str, origin: Option<&Origin>) -> String {
    format!(r#"{{"type":"reasoning","summary":[]{}}}"#, encrypted_field(raw, origin))
}

/// The `encrypted_content` field, which returns the block to the provider that created it.
fn encrypted_field(raw: &str, origin: Option<&Origin>) -> String {
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
