//! Messages of LangChain, in the forms of all its languages.

mod answers;
mod blocks;

use super::output::{Output, text_of};
use crate::item::Kind;
use crate::json::{Object, quote};

/// The types of messages, with the class names that `dumpd` writes.
const TYPES: [(&str, &str); 13] = [
    ("human", "HumanMessage"),
    ("ai", "AIMessage"),
    ("system", "SystemMessage"),
    ("tool", "ToolMessage"),
    ("function", "FunctionMessage"),
    ("chat", "ChatMessage"),
    ("remove", "RemoveMessage"),
    ("human", "HumanMessageChunk"),
    ("ai", "AIMessageChunk"),
    ("system", "SystemMessageChunk"),
    ("tool", "ToolMessageChunk"),
    ("function", "FunctionMessageChunk"),
    ("chat", "ChatMessageChunk"),
];

/// Whether messages of LangChain may have this `type`.
pub(super) fn is_type(name: &str) -> bool {
    plain_type(name).is_some()
}

/// Whether only messages of LangChain have this `type`.
pub(super) fn is_unmistakable(name: &str) -> bool {
    matches!(name, "human" | "ai") || name.ends_with("MessageChunk")
}

/// The type of a message, from its `type` or its class. The `type` of a chunk is a class name.
fn plain_type(name: &str) -> Option<&'static str> {
    let known = TYPES.into_iter().find(|(kind, class)| name == *kind || name == *class);
    known.map(|(kind, _)| kind)
}

/// Converts a message in the form of `messages_to_dict` or `dumpd`, or its plain fields.
pub(super) fn convert_message(raw: &str, output: &mut Output) -> Result<(), String> {
    let element = Object::parse_str(raw).map_err(|error| error.to_string())?;
    if element.present("lc").is_some() {
        let class = class_of(&element).unwrap_or_default();
        let fields = element.object("kwargs").ok_or("kwargs: an object is expected")?;
        let kind = plain_type(&class);
        let kind = kind.ok_or_else(|| format!("id: '{class}' is not a message class"))?;
        return convert(kind, &fields, output);
    }
    let Some(name) = element.string("type") else {
        let role = element.string("role").unwrap_or_default();
        return convert_client_message(&role, &element, output);
    };
    let kind = plain_type(&name).ok_or("type: the type of a message is expected")?;
    match element.object("data") {
        Some(fields) => convert(kind, &fields, output),
        None => convert(kind, &element, output),
    }
}

/// The last element of `id`, which is the path of a class.
fn class_of(element: &Object<'_>) -> Option<String> {
    let path: Vec<String> = serde_json::from_str(element.get("id")?).ok()?;
    path.into_iter().next_back()
}

fn convert(kind: &str, message: &Object<'_>, output: &mut Output) -> Result<(), String> {
    match kind {
        "ai" => answers::convert(message, output),
        "human" => convert_client_message("user", message, output),
        "system" => {
            let keywords = message.object("additional_kwargs").unwrap_or_default();
            let role = keywords.string("__openai_role__");
            convert_client_message(role.as_deref().unwrap_or("system"), message, output)
        }
        "chat" => {
            let role = message.string("role").ok_or("role: a string is expected")?;
            convert_client_message(&role, message, output)
        }
        "tool" => tool(message, output),
        "function" => Err("a FunctionMessage does not name the call that it answers".to_owned()),
        _ => Err("a RemoveMessage is not part of a history".to_owned()),
    }
}

fn convert_client_message(
    role: &str,
    message: &Object<'_>,
    output: &mut Output,
) -> Result<(), String> {
    if role == "assistant" {
        return answers::convert(message, output);
    }
    let content = content_of(message)?;
    if content.starts_with('"') {
        return output.message(role, content);
    }
    let content = blocks::convert_content(content, output)?;
    content.map_or(Ok(()), |content| output.message(role, &content))
}

fn tool(message: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let call_id = message.get("tool_call_id").filter(|raw| raw.starts_with('"'));
    let call_id = call_id.ok_or("tool_call_id: a string is expected")?;
    let content = content_of(message)?;
    if content.starts_with('"') {
        return output.output(call_id, content);
    }
    if let Some(item) = blocks::typed_output(content, call_id) {
        return output.push(&item);
    }
    let content = blocks::convert_content(content, output)?;
    output.output(call_id, content.as_deref().unwrap_or(r#""""#))
}

fn content_of<'a>(message: &'a Object<'_>) -> Result<&'a str, String> {
    let content = message.present("content").filter(|raw| raw.starts_with(['"', '[']));
    content.ok_or_else(|| "content: a string or blocks are expected".to_owned())
}

/// A block without `index`, a field of LangChain's own.
fn without_index(block: &Object<'_>) -> Object<'static> {
    let mut item = Object::default();
    for (name, raw) in block.iter().filter(|(name, _)| *name != "index") {
        item.set(name.to_owned(), raw.to_owned());
    }
    item
}

/// The provider's id of a block. Ids that LangChain generates do not count.
fn own_id(block: &Object<'_>) -> Option<String> {
    let id = block.string("id").filter(|id| !id.is_empty() && !id.starts_with("lc_"));
    id.map(std::borrow::Cow::into_owned)
}

/// Whether a block of this `type` is an item.
fn is_item(kind: &str) -> bool {
    !matches!(Kind::parse(kind), Kind::Other(_) | Kind::Message)
}

/// Arguments as a raw string.
fn arguments(raw: Option<&str>) -> String {
    raw.map_or_else(|| quote("{}"), text_of)
}
