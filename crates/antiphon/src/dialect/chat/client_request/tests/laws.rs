//! A request that the encoder wrote, decoded and encoded again, is the same JSON.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::origin;
use crate::dialect::chat::history::tests::chats::{chats, items_of_chat};
use crate::dialect::chat::{decode_request, encode};
use crate::dialect::{Request, UpstreamApi};
use crate::item::Item;
use crate::json::Object;

fn encoded(fields: &Object<'_>, items: &[Item]) -> Value {
    let request = Request { fields, items, origin: &origin() };
    let encoded = encode(request).unwrap();
    assert!(encoded.omissions.is_empty(), "{:?}", encoded.omissions);
    serde_json::from_slice(&encoded.body).unwrap()
}

/// Fields of the Responses API, and one that only Chat Completions has.
fn fields() -> impl Strategy<Value = Value> {
    let field = |name: &'static str, values: Vec<Value>| {
        prop::option::of(select(values)).prop_map(move |value| (name, value))
    };
    let function = json!({"type": "function", "name": "f", "description": "d",
        "parameters": {"type": "object", "properties": {}}, "strict": true});
    let custom = json!({"type": "custom", "name": "c", "format":
        {"type": "grammar", "syntax": "regex", "definition": "a+"}});
    let plain = json!({"type": "function", "name": "g"});
    let schema = json!({"type": "json_schema", "name": "s", "schema": {"type": "object"}});
    let text = vec![
        json!({"format": schema, "verbosity": "low"}),
        json!({"format": {"type": "json_object"}}),
        json!({"verbosity": "high"}),
    ];
    let logprobs = json!(["reasoning.encrypted_content", "message.output_text.logprobs"]);
    let fields = vec![
        field("instructions", vec![json!(""), json!("Be brief.\nAnd kind.")]).boxed(),
        field("max_output_tokens", vec![json!(16), json!(4000)]).boxed(),
        field("temperature", vec![json!(0), json!(0.5)]).boxed(),
        field("top_p", vec![json!(0.9)]).boxed(),
        field("presence_penalty", vec![json!(1)]).boxed(),
        field("service_tier", vec![json!("flex")]).boxed(),
        field("user", vec![json!("u")]).boxed(),
        field("prompt_cache_key", vec![json!("k")]).boxed(),
        field("reasoning", vec![json!({"effort": "low"})]).boxed(),
        field("text", text).boxed(),
        field("include", vec![logprobs]).boxed(),
        field("top_logprobs", vec![json!(0), json!(3)]).boxed(),
        field("tools", vec![json!([function]), json!([function, custom, plain])]).boxed(),
        field("stop", vec![json!("END"), json!(["A", "B"])]).boxed(),
        field("max_tokens", vec![json!(5)]).boxed(),
    ];
    let choice = select(vec![
        json!("auto"),
        json!("none"),
        json!("required"),
        json!({"type": "function", "name": "f"}),
        json!({"type": "allowed_tools", "mode": "required",
            "tools": [{"type": "function", "name": "f"}]}),
    ]);
    (fields, choice, any::<bool>()).prop_map(|(fields, choice, parallel)| {
        let mut object = json!({"model": "m"});
        for (name, value) in fields {
            if let Some(value) = value {
                object[name] = value;
            }
        }
        if object.get("tools").is_some() {
            object["tool_choice"] = choice;
            object["parallel_tool_calls"] = parallel.into();
        }
        object
    })
}

proptest! {
    #[test]
    fn encoded_request_round_trips(fields in fields(), chat in chats()) {
        let fields = fields.to_string();
        let items: Vec<Item> = items_of_chat(&chat)
            .iter()
            .map(|value| Item::parse(value.to_string().into()).unwrap())
            .collect();
        prop_assume!(fields.contains("instructions") || !items.is_empty());
        let body = encoded(&Object::parse_str(&fields).unwrap(), &items);

        let text = body.to_string();
        let request = Object::parse_str(&text).unwrap();
        let decoded = decode_request(&request, UpstreamApi::Chat, &origin()).unwrap();

        prop_assert!(decoded.omissions.is_empty(), "{:?}", decoded.omissions);
        let again = encoded(&Object::parse_str(&decoded.fields).unwrap(), &decoded.items);
        prop_assert_eq!(again, body);
    }
}
