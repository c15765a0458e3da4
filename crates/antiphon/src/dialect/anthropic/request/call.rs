//! A call and its output as blocks.

use super::block::{Block, write_all};
use super::content::Content;
use super::report::{Report, unsupported};
use crate::dialect::request::{Place, Unsupported};
use crate::item::{Item, Kind};
use crate::json::{Object, push_quoted, unquote};

/// The `tool_use` block of a function call or a custom tool call.
///
/// Its `input` is the arguments' own text where that is a JSON object, and `{}` where it is empty.
/// Arguments that a model broke are its own words and must not make the conversation unusable: they
/// go as `{"_raw": "…"}`, and that is reported.
pub(super) fn tool_use(
    id: &str,
    (position, kind, call): (usize, &Kind, &Object<'_>),
    report: &mut Report,
) -> Result<Block, Unsupported> {
    let name = call.present("name").filter(|name| name.starts_with('"'));
    let name = name.ok_or_else(|| {
        let place = Place::Item(position, "name".into());
        unsupported(place, "a call in Anthropic Messages has a name")
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
    let how = "the input of a call in Anthropic Messages is an object, and these arguments, which \
               are none, go as its field '_raw'";
    report.change(Place::Item(position, "arguments".into()), how);
    format!(r#"{{"_raw":{raw}}}"#)
}

/// The `tool_result` block of an output: a text, or text, image and document blocks. An output that
/// says nothing has no `content`.
pub(super) fn tool_result(
    id: &str,
    (position, item): (usize, &Item),
    report: &mut Report,
) -> Result<Block, Unsupported> {
    let output = item.object();
    let content = output.present("output").unwrap_or("\"\"");
    let blocks = Content::of_output(position).blocks(content, report)?;
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
