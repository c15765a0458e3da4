//! Placeholder for lost reasoning.

use bytes::Bytes;

use crate::dialect::chat::fields::array;
use crate::json::{Object, elements};

/// The placeholder: DeepSeek's V4 models reject an empty text and accept this one.
const PLACEHOLDER: &str = r#"" ""#;

/// Adds a placeholder `reasoning_content` to every assistant message of a Chat Completions request
/// that calls tools without it. Returns the body and the number of changed messages; `None` if no
/// message lacks it.
///
/// Some servers require the field: "The `reasoning_content` in the thinking mode must be passed
/// back to the API." A client that dropped the reasoning has no other value. Other servers may
/// reject the field, so use this only after such an error.
pub fn with_placeholder_reasoning(body: &[u8]) -> Option<(Bytes, usize)> {
    let mut request = Object::parse(body).ok()?;
    let messages = elements(request.get("messages")?)?;
    let mut count = 0;
    let messages: Vec<String> = messages
        .iter()
        .map(|message| {
            let completed = add_placeholder(message);
            count += usize::from(completed.is_some());
            completed.unwrap_or_else(|| (*message).to_owned())
        })
        .collect();
    if count == 0 {
        return None;
    }
    request.set("messages", array(&messages));
    Some((request.to_bytes(), count))
}

/// The message with the placeholder; `None` if it has reasoning or needs none.
fn add_placeholder(message: &str) -> Option<String> {
    let mut message = Object::parse(message.as_bytes()).ok()?;
    let has_reasoning = message.present("reasoning_content").is_some_and(|text| text != r#""""#);
    if has_reasoning || message.present("tool_calls").is_none() {
        return None;
    }
    message.set("reasoning_content", PLACEHOLDER);
    Some(message.to_text())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stood_in(messages: &Value) -> Option<(Value, usize)> {
        let body = json!({"model": "m", "messages": messages, "stream": true}).to_string();
        let (body, count) = with_placeholder_reasoning(body.as_bytes())?;
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["stream"], true);
        Some((body["messages"].clone(), count))
    }

    fn calling(reasoning: Option<&str>) -> Value {
        let mut message = json!({"role": "assistant", "content": null, "tool_calls": [{}]});
        if let Some(reasoning) = reasoning {
            message["reasoning_content"] = reasoning.into();
        }
        message
    }

    #[test]
    fn calls_without_reasoning_get_a_space() {
        let reply = json!({"role": "assistant", "content": "Hello"});
        let messages = json!([reply, calling(None), calling(Some("Hm.")), calling(Some(""))]);
        let expected = json!([reply, calling(Some(" ")), calling(Some("Hm.")), calling(Some(" "))]);
        assert_eq!(stood_in(&messages), Some((expected, 2)));
    }

    #[test]
    fn body_with_reasoning_is_unchanged() {
        let reply = json!({"role": "assistant", "content": "Hello"});
        assert_eq!(stood_in(&json!([reply, calling(Some("Hm."))])), None);
        assert_eq!(with_placeholder_reasoning(b"not json"), None);
    }
}
