//! Messages of LangChain, as both of its languages write them.

mod answers;
mod blocks;

use super::output::{Output, text_of};
use crate::item::Kind;
use crate::json::{Object, quote};

/// The types of messages, and the classes that `dumpd` names.
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

/// Whether a message of LangChain has this `type`.
pub(super) fn is_type(name: &str) -> bool {
    plain_type(name).is_some()
}

/// Whether nothing else has this `type`.
pub(super) fn is_unmistakable(name: &str) -> bool {
    matches!(name, "human" | "ai") || name.ends_with("MessageChunk")
}

/// The type of a message by its `type`, which of chunks is the name of a class, or by its class.
fn plain_type(name: &str) -> Option<&'static str> {
    let known = TYPES.into_iter().find(|(kind, class)| name == *kind || name == *class);
    known.map(|(kind, _)| kind)
}

/// Converts a message: as `messages_to_dict` and `dumpd` write it, or its fields alone.
pub(super) fn convert_message(raw: &str, output: &mut Output) -> Result<(), String> {
    let element = Object::of(raw).map_err(|error| error.to_string())?;
    if element.present("lc").is_some() {
        let class = class_of(&element).unwrap_or_default();
        let fields = element.object("kwargs").ok_or("kwargs: an object is expected")?;
        let kind = plain_type(&class);
        let kind = kind.ok_or_else(|| format!("id: '{class}' is no class of a message"))?;
        return convert(kind, &fields, output);
    }
    let Some(name) = element.string("type") else {
        let role = element.string("role").unwrap_or_default();
        return said_by_caller(&role, &element, output);
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
        "human" => said_by_caller("user", message, output),
        "system" => {
            let keywords = message.object("additional_kwargs").unwrap_or_default();
            let role = keywords.string("__openai_role__");
            said_by_caller(role.as_deref().unwrap_or("system"), message, output)
        }
        "chat" => {
            let role = message.string("role").ok_or("role: a string is expected")?;
            said_by_caller(&role, message, output)
        }
        "tool" => tool(message, output),
        "function" => Err("a function's message names no call that it answers".to_owned()),
        _ => Err("a request to remove a message is no part of a history".to_owned()),
    }
}

fn said_by_caller(role: &str, message: &Object<'_>, output: &mut Output) -> Result<(), String> {
    if role == "assistant" {
        return answers::convert(message, output);
    }
    let content = content_of(message)?;
    if content.starts_with('"') {
        return output.message(role, content);
    }
    let content = blocks::said(content, output)?;
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
    let content = blocks::said(content, output)?;
    output.output(call_id, content.as_deref().unwrap_or(r#""""#))
}

fn content_of<'a>(message: &'a Object<'_>) -> Result<&'a str, String> {
    let content = message.present("content").filter(|raw| raw.starts_with(['"', '[']));
    content.ok_or_else(|| "content: a string or blocks are expected".to_owned())
}

/// A block without what only LangChain puts there.
fn without_index(block: &Object<'_>) -> Object<'static> {
    let mut item = Object::default();
    for (name, raw) in block.iter().filter(|(name, _)| *name != "index") {
        item.set(name.to_owned(), raw.to_owned());
    }
    item
}

/// The id that the provider gave, which those that LangChain makes up are not.
fn own_id(block: &Object<'_>) -> Option<String> {
    let id = block.string("id").filter(|id| !id.is_empty() && !id.starts_with("lc_"));
    id.map(std::borrow::Cow::into_owned)
}

/// Whether an item has this `type`, so that a block of it is that item.
fn is_item(kind: &str) -> bool {
    !matches!(Kind::parse(kind), Kind::Other(_) | Kind::Message)
}

/// A value of arguments as a raw string.
fn arguments(raw: Option<&str>) -> String {
    raw.map_or_else(|| quote("{}"), text_of)
}
