//! What stands in for reasoning that is lost.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::dialect::chat::fields::array;
use crate::json::Object;

/// DeepSeek's V4 models refuse an empty text and take this one.
const STAND_IN: &str = r#"" ""#;

/// The body of a Chat Completions request in which every message of the assistant that calls tools
/// holds `reasoning_content`, and how many of them did not; `None` where all did.
///
/// It is for servers that refuse a message without: "The `reasoning_content` in the thinking mode
/// must be passed back to the API." A client that drops reasoning has nothing else to give. Other
/// servers may refuse the field, so it is for those that asked for it.
pub fn with_reasoning_stood_in(body: &[u8]) -> Option<(Bytes, usize)> {
    let mut request = Object::parse(body).ok()?;
    let messages: Vec<&RawValue> = serde_json::from_str(request.get("messages")?).ok()?;
    let mut count = 0;
    let messages: Vec<String> = messages
        .iter()
        .map(|message| {
            let completed = completed(message.get());
            count += usize::from(completed.is_some());
            completed.unwrap_or_else(|| message.get().to_owned())
        })
        .collect();
    if count == 0 {
        return None;
    }
    request.set("messages", array(&messages));
    Some((request.to_bytes(), count))
}

/// The message with reasoning; `None` where it has some, or needs none.
fn completed(message: &str) -> Option<String> {
    let mut message = Object::parse(message.as_bytes()).ok()?;
    let reasons = message.present("reasoning_content").is_some_and(|text| text != r#""""#);
    if reasons || message.present("tool_calls").is_none() {
        return None;
    }
    message.set("reasoning_content", STAND_IN);
    Some(message.to_text())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn stood_in(messages: &Value) -> Option<(Value, usize)> {
        let body = json!({"model": "m", "messages": messages, "stream": true}).to_string();
        let (body, count) = with_reasoning_stood_in(body.as_bytes())?;
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
        let said = json!({"role": "assistant", "content": "Hello"});
        let messages = json!([said, calling(None), calling(Some("Hm.")), calling(Some(""))]);
        let expected = json!([said, calling(Some(" ")), calling(Some("Hm.")), calling(Some(" "))]);
        assert_eq!(stood_in(&messages), Some((expected, 2)));
    }

    #[test]
    fn where_nothing_is_missing_nothing_changes() {
        let said = json!({"role": "assistant", "content": "Hello"});
        assert_eq!(stood_in(&json!([said, calling(Some("Hm."))])), None);
        assert_eq!(with_reasoning_stood_in(b"not json"), None);
    }
}
