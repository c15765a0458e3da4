//! Content blocks, and the conversion of a call and its output into them.

use super::content::Content;
use super::{AnthropicOmissions, unsupported};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::dialect::tools::FlatNames;
use crate::item::{Item, Kind};
use crate::json::{Object, push_quoted, unquote};

/// A content block of a message.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// Text that is not blank, as a raw JSON string.
    Text(String),
    /// A `thinking` or `redacted_thinking` block as the model wrote it, and its item's position.
    Thinking { raw: String, position: usize },
    /// Any other block, raw.
    Other(String),
}

impl Block {
    /// The text block for a raw JSON string; `None` if the text is blank, because Anthropic rejects
    /// such a block ("text content blocks must be non-empty", "… must contain non-whitespace
    /// text").
    pub(super) fn text(raw: &str) -> Option<Self> {
        (!is_blank(raw)).then(|| Self::Text(raw.to_owned()))
    }

    pub(super) fn write(&self, json: &mut String) {
        match self {
            Self::Text(raw) => {
                json.push_str(r#"{"type":"text","text":"#);
                json.push_str(raw);
                json.push('}');
            }
            Self::Thinking { raw, .. } | Self::Other(raw) => json.push_str(raw),
        }
    }
}

/// Appends an array of blocks.
pub(super) fn write_all<'a>(blocks: impl IntoIterator<Item = &'a Block>, json: &mut String) {
    json.push('[');
    for (position, block) in blocks.into_iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        block.write(json);
    }
    json.push(']');
}

/// Whether a raw JSON string holds only white space.
pub(super) fn is_blank(raw: &str) -> bool {
    let begins_with_a_letter = raw.as_bytes().get(1).is_some_and(u8::is_ascii_graphic);
    if begins_with_a_letter && !matches!(raw.as_bytes()[1], b'"' | b'\\') {
        return false;
    }
    unquote(raw).is_some_and(|text| text.trim().is_empty())
}

/// The `tool_use` block of a function call or a custom tool call.
///
/// The `input` is the text of the arguments if that is a JSON object, and `{}` if it is empty.
/// Invalid arguments come from a model and must not make the conversation unusable: they are sent
/// as `{"_raw": "…"}`, and the change is reported.
pub(super) fn tool_use(
    id: &str,
    name: &str,
    (position, kind, call): (usize, &Kind, &Object<'_>),
    omissions: &mut AnthropicOmissions,
) -> Block {
    let input = match kind {
        Kind::CustomToolCall => {
            format!(r#"{{"input":{}}}"#, call.present("input").unwrap_or("\"\""))
        }
        _ => arguments(call, position, omissions),
    };
    let mut json = String::from(r#"{"type":"tool_use","id":"#);
    push_quoted(&mut json, id);
    json.push_str(r#","name":"#);
    push_quoted(&mut json, name);
    json.push_str(r#","input":"#);
    json.push_str(&input);
    json.push('}');
    Block::Other(json)
}

/// The name under which the model knows the tool of a call.
pub(super) fn called_name(
    position: usize,
    call: &Object<'_>,
    names: &FlatNames,
) -> Result<String, Unsupported> {
    let name = call.string("name").ok_or_else(|| {
        let place = RequestPath::Item(position, "name".into());
        unsupported(place, "a call in the Anthropic Messages API needs a name")
    })?;
    Ok(match call.string("namespace") {
        Some(namespace) => names.flatten(&namespace, &name),
        None => name.into_owned(),
    })
}

fn arguments(call: &Object<'_>, position: usize, omissions: &mut AnthropicOmissions) -> String {
    let raw = call.present("arguments").unwrap_or("\"\"");
    let text = unquote(raw).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() && raw.starts_with('"') {
        return "{}".to_owned();
    }
    if Object::parse(text.as_bytes()).is_ok() {
        return text.to_owned();
    }
    let how = "the Anthropic Messages API takes an object as the input of a call; these arguments \
               are not an object and are sent in its field '_raw'";
    omissions.change(RequestPath::Item(position, "arguments".into()), how);
    format!(r#"{{"_raw":{raw}}}"#)
}

/// The `tool_result` block of an output: a text, or text, image and document blocks. The block of
/// an empty output has no `content`.
pub(super) fn tool_result(
    id: &str,
    (position, item): (usize, &Item),
    omissions: &mut AnthropicOmissions,
) -> Result<Block, Unsupported> {
    let output = item.object();
    let content = output.present("output").unwrap_or("\"\"");
    let blocks = Content::call_output(position).blocks(content, omissions)?;
    let mut json = String::from(r#"{"type":"tool_result","tool_use_id":"#);
    push_quoted(&mut json, id);
    match &*blocks {
        [] => {}
        [Block::Text(raw)] if content.starts_with('"') => {
            json.push_str(r#","content":"#);
            json.push_str(raw);
        }
        _ => {
            json.push_str(r#","content":"#);
            write_all(&blocks, &mut json);
        }
    }
    json.push('}');
    Ok(Block::Other(json))
}
