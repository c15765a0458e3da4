//! The fields other than contents and tools.

use serde_json::{Value, json};

use super::{Anthropic, Chat, Responses, decode, decode_all, decode_count_request, error, origin};
use crate::json::Object;

fn config(config: &Value) -> Value {
    json!({"generationConfig": config})
}

#[test]
fn common_fields_become_those_of_responses() {
    let fields = json!({
        "system_instruction": {"parts": [{"text": "Be brief."}, {"text": " "}, {"text": "Now."}]},
        "generationConfig": {"temperature": 0.5, "topP": 0.8, "maxOutputTokens": 800,
            "candidateCount": 1, "responseModalities": ["TEXT"]}});
    let expected = json!({"instructions": "Be brief.\n\nNow.", "temperature": 0.5, "top_p": 0.8,
        "max_output_tokens": 800});
    assert_eq!(decode_all(&fields, Responses), expected);
}

#[test]
fn defaults_of_google_models_are_left_out() {
    let defaults = config(&json!({"temperature": 1, "topP": 0.95, "topK": 64}));
    for upstream in [Responses, Chat, Anthropic] {
        assert_eq!(decode_all(&defaults, upstream), json!({}));
    }
}

#[test]
fn other_sampling_depends_on_the_upstream() {
    let fields = config(&json!({"topK": 5, "seed": 7, "stopSequences": ["END"]}));
    let paths = |keys: &[&str]| {
        keys.iter().map(|key| format!("generationConfig.{key}")).collect::<Vec<_>>()
    };
    let (sent, omissions) = decode(&fields, Responses);
    assert_eq!((sent, omissions), (json!({}), paths(&["topK", "seed", "stopSequences"])));
    let (sent, omissions) = decode(&fields, Chat);
    assert_eq!((sent, omissions), (json!({"seed": 7, "stop": ["END"]}), paths(&["topK"])));
    let (sent, omissions) = decode(&fields, Anthropic);
    assert_eq!(sent, json!({"top_k": 5, "stop_sequences": ["END"]}));
    assert_eq!(omissions, paths(&["seed"]));
}

#[test]
fn few_tokens_are_raised_to_the_minimum() {
    let (fields, omissions) = decode(&config(&json!({"maxOutputTokens": 1})), Responses);
    assert_eq!(fields, json!({"max_output_tokens": 16}));
    assert_eq!(omissions, ["generationConfig.maxOutputTokens"]);
}

#[test]
fn thinking_becomes_reasoning() {
    for (thinking, expected) in [
        (json!({"thinkingBudget": 0}), json!({"effort": "none"})),
        (json!({"thinkingBudget": 1024}), json!({"effort": "low"})),
        (json!({"thinkingBudget": 8192}), json!({"effort": "medium"})),
        (json!({"thinkingBudget": 24576}), json!({"effort": "high"})),
        (json!({"thinkingBudget": -1, "includeThoughts": true}), json!({"summary": "auto"})),
        (
            json!({"thinkingLevel": "HIGH", "includeThoughts": true}),
            json!({"effort": "high", "summary": "auto"}),
        ),
        (json!({"thinkingLevel": "low"}), json!({"effort": "low"})),
    ] {
        let fields = config(&json!({"thinkingConfig": thinking}));
        assert_eq!(decode_all(&fields, Responses)["reasoning"], expected);
    }
    let fields = config(&json!({"thinkingConfig": {"includeThoughts": true}}));
    assert_eq!(decode_all(&fields, Chat), json!({}));
}

#[test]
fn schema_of_the_answer_becomes_its_format() {
    // Google's guide "Structured outputs".
    let schema = json!({"type": "ARRAY", "minItems": "1", "items": {"type": "OBJECT",
        "properties": {
            "recipeName": {"type": "STRING", "nullable": true},
            "type": {"type": "STRING", "enum": ["A", "B"]}},
        "propertyOrdering": ["recipeName", "type"]}});
    let fields = config(&json!({"responseMimeType": "application/json", "responseSchema": schema}));
    let expected = json!({"format": {"type": "json_schema", "name": "output", "strict": false,
        "schema": {"type": "array", "minItems": 1, "items": {"type": "object", "properties": {
            "recipeName": {"type": ["string", "null"]},
            "type": {"type": "string", "enum": ["A", "B"]}}}}}});
    assert_eq!(decode_all(&fields, Responses)["text"], expected);

    // Gemini CLI sends types in upper case in this field.
    for kind in ["object", "OBJECT"] {
        let own = json!({"type": kind, "additionalProperties": false});
        let fields =
            config(&json!({"responseMimeType": "application/json", "responseJsonSchema": own}));
        let expected = json!({"type": "object", "additionalProperties": false});
        assert_eq!(decode_all(&fields, Chat)["text"]["format"]["schema"], expected);
    }
    let fields = config(&json!({"responseMimeType": "application/json"}));
    assert_eq!(decode_all(&fields, Chat)["text"], json!({"format": {"type": "json_object"}}));
}

#[test]
fn other_fields_are_left_out_and_reported() {
    let fields = json!({"safetySettings": [{}], "labels": {"a": "b"},
        "generationConfig": {"speechConfig": {}, "responseMimeType": "text/x.enum"}});
    let (sent, omissions) = decode(&fields, Responses);
    assert_eq!(sent, json!({}));
    let expected = [
        "generationConfig.responseMimeType",
        "generationConfig.speechConfig",
        "labels",
        "safetySettings",
    ];
    assert_eq!(omissions, expected);
}

#[test]
fn impossible_fields_are_rejected() {
    for (fields, path) in [
        (json!({"cachedContent": "cachedContents/1"}), "cachedContent"),
        (config(&json!({"candidateCount": 2})), "generationConfig.candidateCount"),
        (config(&json!({"responseModalities": ["IMAGE"]})), "responseModalities[0]"),
        (config(&json!({"maxOutputTokens": 0})), "generationConfig.maxOutputTokens"),
        (config(&json!({"temperature": "x"})), "generationConfig.temperature"),
        (config(&json!({"thinkingConfig": {"thinkingLevel": "X"}})), "thinkingLevel"),
    ] {
        let message = error(&fields);
        assert!(message.contains(path), "{message}");
    }
}

#[test]
fn count_request_may_hold_a_whole_request() {
    let whole = json!({"model": "models/other", "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [{"parts": [{"text": "Hello"}]}]});
    let text = json!({"model": "m", "generateContentRequest": whole}).to_string();
    let request = Object::parse_str(&text).unwrap();
    let decoded = decode_count_request(&request, Responses, &origin()).unwrap();
    let fields: Value = serde_json::from_str(&decoded.fields).unwrap();
    assert_eq!((&fields["model"], &fields["instructions"]), (&json!("m"), &json!("S")));
    assert_eq!(decoded.items.len(), 1);
}
