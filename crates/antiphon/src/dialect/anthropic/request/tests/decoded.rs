//! The decoder of client requests is the inverse of the encoder.

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Value, json};

use super::chats::{chat, items, naming};
use super::{encode, origin, try_send};
use crate::dialect::UpstreamApi;
use crate::dialect::anthropic::client_request::decode_request;
use crate::dialect::request::Request;
use crate::json::Object;

/// Decodes a request of the Messages API and encodes the result.
fn encode_again(request: &Value) -> Value {
    let text = request.to_string();
    let request = Object::parse(text.as_bytes()).unwrap();
    let decoded = decode_request(&request, UpstreamApi::Anthropic, &origin())
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(decoded.omissions, [], "{text}");
    let fields = Object::parse_str(&decoded.fields).unwrap();
    let request = Request { fields: &fields, items: &decoded.items, origin: &origin() };
    let encoded = encode(request).unwrap_or_else(|error| panic!("{error}: {text}"));
    serde_json::from_slice(&encoded.body).unwrap()
}

/// Some fields of a request of the Responses API.
fn fields() -> impl Strategy<Value = Value> {
    let function = |name| {
        json!({"type": "function", "name": name, "strict": true, "description": "Does it.",
            "parameters": {"properties": {"a": {"type": "string"}}, "required": ["a"]}})
    };
    let custom = json!({"type": "custom", "name": "shell"});
    let own = json!({"type": "anthropic:web_search_20250305", "name": "web_search",
        "content": {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}});
    let all = vec![
        ("instructions", json!("Be brief.")),
        ("max_output_tokens", json!(2_000)),
        ("max_tokens", json!(1)),
        ("temperature", json!(0.5)),
        ("top_p", json!(0.9)),
        ("top_k", json!(5)),
        ("stop_sequences", json!(["END"])),
        ("tools", json!([function("f"), custom, function("g"), own])),
        ("parallel_tool_calls", json!(false)),
        ("reasoning", json!({"effort": "high", "summary": "auto"})),
        ("thinking", json!({"type": "adaptive"})),
        ("text", json!({"format": {"type": "json_schema", "name": "n", "schema": {"a": 1}}})),
        ("user", json!("u".repeat(200))),
        ("service_tier", json!("default")),
        ("container", json!("container_1")),
        ("cache_control", json!({"type": "ephemeral"})),
    ];
    let choice = prop_oneof![
        Just(json!("auto")),
        Just(json!("none")),
        Just(json!("required")),
        Just(json!({"type": "function", "name": "g"})),
        Just(json!({"type": "anthropic:web_search_20250305"})),
    ];
    let model = prop_oneof!["claude-(opus|sonnet|haiku)-(4-[056]|5|5-5)", Just("qwen3".into())];
    let length = all.len();
    (subsequence(all, 0..=length), proptest::option::of(choice), model).prop_map(
        |(chosen, choice, model)| {
            let mut fields = json!({"model": model});
            for (key, value) in chosen {
                fields[key] = value;
            }
            if let Some(choice) = choice.filter(|_| fields["tools"].is_array()) {
                fields["tool_choice"] = choice;
            }
            fields
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn decoding_reverts_encoding(fields in fields(), events in chat(), naming in naming()) {
        let items = items(&events, naming, false);
        let Ok(sent) = try_send(&fields, &items) else {
            // A chat without content.
            return Ok(());
        };
        prop_assert_eq!(encode_again(&sent.body), sent.body);
    }
}

/// Only the borders between the texts of several instructions are lost.
#[test]
fn system_texts_are_joined() {
    let request = json!({
        "model": "claude-opus-4-6", "max_tokens": 100, "stream": true,
        "system": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
    });
    let mut expected = request.clone();
    expected["system"] = json!([{"type": "text", "text": "One.\n\nTwo."}]);
    assert_eq!(encode_again(&request), expected);
    assert_eq!(encode_again(&expected), expected);
}
