//! Items in words, so that a history reads as one.

use serde_json::Value;

/// One line for each item: `user: Hello`, `reasoning`, `call echo {"text":"hello"}`,
/// `output: hello`, or the type of anything else.
pub(crate) fn lines(items: &[Value]) -> Vec<String> {
    items.iter().map(line).collect()
}

fn line(item: &Value) -> String {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = item["role"].as_str().unwrap_or_default();
            format!("{role}: {}", text_of(&item["content"]))
        }
        "function_call" | "custom_tool_call" => {
            let field = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
            format!("call {} {}{}", field("name"), field("arguments"), field("input"))
        }
        "function_call_output" | "custom_tool_call_output" => {
            format!("output: {}", text_of(&item["output"]))
        }
        other => other.to_owned(),
    }
}

fn text_of(content: &Value) -> String {
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    match content.as_str() {
        Some(text) => text.to_owned(),
        None => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
    }
}

/// A field that holds a string.
pub(crate) fn text(field: &Value) -> &str {
    field.as_str().expect("it is a string")
}

/// A field that holds a list.
pub(crate) fn list(field: &Value) -> &[Value] {
    field.as_array().expect("it is a list")
}

/// The one item of this type.
pub(crate) fn only<'a>(items: &'a [Value], kind: &str) -> &'a Value {
    let mut found = items.iter().filter(|item| item["type"] == kind);
    let item = found.next().unwrap_or_else(|| panic!("no {kind} among {items:?}"));
    assert!(found.next().is_none(), "one {kind} only: {items:?}");
    item
}

/// The ids of items, in order.
pub(crate) fn ids(items: &[Value]) -> Vec<&str> {
    let id = |item: &'_ Value| item["id"].as_str().is_some();
    assert!(items.iter().all(id), "all have ids: {items:?}");
    items.iter().filter_map(|item| item["id"].as_str()).collect()
}
