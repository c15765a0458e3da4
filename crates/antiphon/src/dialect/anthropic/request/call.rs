//! Converts a call and its output into blocks.

use super::block::{Block, write_all};
use super::content::Content;
use super::report::{Report, unsupported};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::item::{Item, Kind};
use crate::json::{Object, push_quoted, unquote};

/// The `tool_use` block of a function call or a custom tool call.
///
/// The `input` is the text of the arguments if that is a JSON object, and `{}` if it is empty.
/// Invalid arguments come from a model and must not make the conversation unusable: they are sent
/// as `{"_raw": "…"}`, and the change is reported.
pub(super) fn tool_use(
    id: &str,
    (position, kind, call): (usize, &Kind, &Object<'_>),
    report: &mut Report,
) -> Result<Block, Unsupported> {
    let name = call.present("name").filter(|name| name.starts_with('"'));
    let name = name.ok_or_else(|| {
        let place = RequestPath::Item(position, "name".into());
        unsupported(place, "a call in the Anthropic Messages API needs a name")
    })?;
    let input = match kind {
        Kind::CustomToolCall => {
            format!(r#"{{"input":{}}}"#, call.present("input").unwrap_or("\"\""))
        }
        _ => arguments(call, position, report),
    };
    let mut json = String::from(r#"{"type":"tool_use","id":"#);
    push_quoted(&mut json, id);
    json.push_str(r#","name":"#);
    json.push_str(name);
    json.push_str(r#","input":"#);
    json.push_str(&input);
    json.push('}');
    Ok(Block::Other(json))
}

fn arguments(call: &Object<'_>, position: usize, report: &mut Report) -> String {
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
    report.change(RequestPath::Item(position, "arguments".into()), how);
    format!(r#"{{"_raw":{raw}}}"#)
}

/// The `tool_result` block of an output: a text, or text, image and document blocks. The block of
/// an empty output has no `content`.
pub(super) fn tool_result(
    id: &str,
    (position, item): (usize, &Item),
    report: &mut Report,
) -> Result<Block, Unsupported> {
    let output = item.object();
    let content = output.present("output").unwrap_or("\"\"");
    let blocks = Content::call_output(position).blocks(content, report)?;
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
