//! Items for tests, in the form in which clients and models write them.

use super::Item;
use crate::json::quote;

/// The item with this JSON text.
pub fn item(text: impl Into<String>) -> Item {
    let text: String = text.into();
    Item::parse(text.clone().into()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A user's message as most clients send it: a role and a text, no id.
pub fn user(text: &str) -> Item {
    item(format!(r#"{{"role":"user","content":{}}}"#, quote(text)))
}

/// A system message without an id.
pub fn system(text: &str) -> Item {
    item(format!(r#"{{"role":"system","content":{}}}"#, quote(text)))
}

/// A developer message without an id.
pub fn developer(text: &str) -> Item {
    item(format!(r#"{{"role":"developer","content":{}}}"#, quote(text)))
}

/// A message of the model as a response contains it.
pub fn assistant(id: &str, text: &str) -> Item {
    let (id, text) = (quote(id), quote(text));
    let part = r#""type":"output_text","annotations":[],"logprobs":[]"#;
    let message = r#""type":"message","status":"completed","role":"assistant""#;
    item(format!(r#"{{"id":{id},{message},"content":[{{{part},"text":{text}}}]}}"#))
}

/// A message of the model as clients send it back without its id.
pub fn bare_assistant(text: &str) -> Item {
    item(format!(r#"{{"role":"assistant","content":{}}}"#, quote(text)))
}

/// Encrypted reasoning.
pub fn reasoning(id: &str) -> Item {
    let (id, content) = (quote(id), quote(&format!("gAAAA-{id}")));
    item(format!(r#"{{"id":{id},"type":"reasoning","summary":[],"encrypted_content":{content}}}"#))
}

/// A call of the weather function without an item id.
pub fn call(call_id: &str, arguments: &str) -> Item {
    let (call_id, arguments) = (quote(call_id), quote(arguments));
    let function = format!(r#""name":"get_weather","arguments":{arguments}"#);
    item(format!(r#"{{"type":"function_call","call_id":{call_id},{function}}}"#))
}

/// A call of the weather function as a response contains it.
pub fn call_under(id: &str, call_id: &str, arguments: &str) -> Item {
    let (id, call_id, arguments) = (quote(id), quote(call_id), quote(arguments));
    let function = format!(r#""name":"get_weather","arguments":{arguments}"#);
    let call = r#""type":"function_call","status":"completed""#;
    item(format!(r#"{{"id":{id},{call},"call_id":{call_id},{function}}}"#))
}

/// The output of a function.
pub fn output(call_id: &str, text: &str) -> Item {
    let (call_id, text) = (quote(call_id), quote(text));
    item(format!(r#"{{"type":"function_call_output","call_id":{call_id},"output":{text}}}"#))
}

/// A compaction.
pub fn compaction(id: &str) -> Item {
    let (id, content) = (quote(id), quote(&format!("gAAAA-{id}")));
    item(format!(r#"{{"id":{id},"type":"compaction","encrypted_content":{content}}}"#))
}

/// A reference to an item that the server holds.
pub fn reference(id: &str) -> Item {
    item(format!(r#"{{"type":"item_reference","id":{}}}"#, quote(id)))
}
