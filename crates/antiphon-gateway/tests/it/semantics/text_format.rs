//! `text.format`: the form of what the model says.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use super::{ANTHROPIC, APIS, CHAT};
use crate::support::{MODEL, MODES, Mode, Refused, SIM, World, ask, invalid};

fn schema_of(schema: &Value) -> Value {
    json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema})
}

fn missing(path: &str) -> Refused {
    let message = format!("Missing required parameter: '{path}'.");
    invalid(Some(path), Some("missing_required_parameter"), &message)
}

fn wrong_type(path: &str, expected: &str, got: &str) -> Refused {
    let message = format!("Invalid type for '{path}': expected {expected}, but got {got} instead.");
    invalid(Some(path), Some("invalid_type"), &message)
}

/// Formats that are none, and what is said of each.
fn malformed() -> Vec<(Value, Refused)> {
    let schema = json!({"type": "object"});
    let long = "n".repeat(65);
    let too_long = "Invalid 'text.format.name': string too long. Expected a string with maximum \
        length 64, but got a string with length 65 instead.";
    let pattern = "Invalid 'text.format.name': string does not match pattern. Expected a string \
        that matches the pattern '^[a-zA-Z0-9_-]+$'.";
    let unknown = "Invalid value: 'yaml'. Supported values are: 'json_object', 'json_schema', and \
        'text'.";
    let (name, kind) = (Some("text.format.name"), Some("text.format.type"));
    vec![
        (json!("json"), wrong_type("text.format", "an object", "a string")),
        (json!({}), missing("text.format.type")),
        (json!({"type": "yaml"}), invalid(kind, Some("invalid_value"), unknown)),
        (json!({"type": "json_schema", "schema": schema}), missing("text.format.name")),
        (
            json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}),
            missing("text.format.name"),
        ),
        (
            json!({"type": "json_schema", "name": "my answer", "schema": schema}),
            invalid(name, Some("invalid_value"), pattern),
        ),
        (
            json!({"type": "json_schema", "name": long, "schema": schema}),
            invalid(name, Some("string_above_max_length"), too_long),
        ),
        (json!({"type": "json_schema", "name": "n"}), missing("text.format.schema")),
        (
            json!({"type": "json_schema", "name": "n", "schema": [schema]}),
            wrong_type("text.format.schema", "an object", "an array"),
        ),
        (
            json!({"type": "json_schema", "name": "n", "schema": schema, "strict": "yes"}),
            wrong_type("text.format.strict", "a boolean", "a string"),
        ),
    ]
}

#[tokio::test]
async fn invalid_format_is_rejected_by_path() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            for (format, expected) in malformed() {
                let asked = ask("Hello").field("text", json!({"format": format}));
                assert_eq!(world.client().refused(mode, &asked).await, expected, "{format}");
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

/// Schemas to which no provider holds a model, and why.
fn not_strict() -> Vec<(Value, &'static str)> {
    let text = json!({"type": "string"});
    let open = json!({"type": "object", "properties": {"a": text}, "required": ["a"]});
    let object = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    vec![
        (
            json!({"type": "array", "items": text}),
            "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'.",
        ),
        (
            json!({"anyOf": [text]}),
            "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"None\"'.",
        ),
        (
            open.clone(),
            "In context=(), 'additionalProperties' is required to be supplied and to be false.",
        ),
        (
            object(json!({"a": text, "b": text}), json!(["a"])),
            "In context=(), 'required' is required to be supplied and to be an array including \
             every key in properties. Missing 'b'.",
        ),
        (
            object(json!({"a": text}), json!(["a", "z"])),
            "In context=(), 'required' is required to be supplied and to be an array including \
             every key in properties. Extra required key 'z' supplied.",
        ),
        (
            object(json!({"list": {"type": "array", "items": open}}), json!(["list"])),
            "In context=('properties', 'list', 'items'), 'additionalProperties' is required to be \
             supplied and to be false.",
        ),
        (
            object(json!({"one": {"anyOf": [text, open]}}), json!(["one"])),
            "In context=('properties', 'one', 'anyOf', '1'), 'additionalProperties' is required \
             to be supplied and to be false.",
        ),
        (
            json!({
                "type": "object",
                "properties": {},
                "required": [],
                "additionalProperties": false,
                "$defs": {"open": open},
            }),
            "In context=('$defs', 'open'), 'additionalProperties' is required to be supplied and \
             to be false.",
        ),
    ]
}

#[tokio::test]
async fn strict_schema_must_be_enforceable() {
    for dialect in APIS {
        for mode in MODES {
            let world = dialect.world().await;
            for (schema, why) in not_strict() {
                let asked = ask("Hello").field("text", json!({"format": schema_of(&schema)}));
                let refused = world.client().refused(mode, &asked).await;
                let message = format!("Invalid schema for response_format 'answer': {why}");
                let (param, code) = (Some("text.format.schema"), Some("invalid_json_schema"));
                assert_eq!(refused, invalid(param, code, &message));
            }
            assert_eq!(world.times_asked(), 0);
        }
    }
}

#[tokio::test]
async fn non_strict_schemas_are_not_checked() {
    for dialect in APIS {
        let world = dialect.world().await;
        for (schema, _) in not_strict() {
            let mut format = schema_of(&schema);
            format["strict"] = Value::Null;
            dialect.answers(&world, &Answer::new(MODEL).message("{}"));
            let asked = ask("Hello").field("text", json!({"format": format}));
            assert_eq!(world.client().respond(&asked).await.text(), "{}");
        }
    }
}

#[tokio::test]
async fn schema_is_converted_for_every_api() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": false,
    });
    for (dialect, path) in [
        (APIS[0], "/text/format/schema"),
        (CHAT, "/response_format/json_schema/schema"),
        (ANTHROPIC, "/output_config/format/schema"),
    ] {
        for mode in MODES {
            let world = dialect.world().await;
            let asked = ask("Hello").field("text", json!({"format": schema_of(&schema)}));
            let answer = Answer::new(MODEL).request(asked.body()).message(r#"{"a":"b"}"#);
            dialect.answers(&world, &answer);
            let turn = world.client().turn(mode, &asked).await;
            assert_eq!(world.last_request().body.pointer(path), Some(&schema), "{dialect:?}");
            assert_eq!(turn.response["text"]["format"]["schema"], schema);
        }
    }
    let world = CHAT.world().await;
    let object = json!({"format": {"type": "json_object"}});
    world.client().respond(&ask("Hello").field("text", object)).await;
    assert_eq!(world.last_request().body["response_format"], json!({"type": "json_object"}));
    let text = json!({"format": {"type": "text"}});
    world.client().respond(&ask("Hello").field("text", text)).await;
    assert_eq!(world.last_request().body["response_format"], Value::Null);
}

#[tokio::test]
async fn built_in_model_follows_the_format() {
    let schema = json!({
        "type": "object",
        "properties": {"color": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["color", "count"],
        "additionalProperties": false,
    });
    for mode in MODES {
        let world = APIS[0].world().await;
        let asked = ask("My color is purple").model(SIM);
        let asked = asked.field("text", json!({"format": schema_of(&schema)}));
        let turn = world.client().turn(mode, &asked).await;
        let reply: Value = serde_json::from_str(turn.text()).unwrap();
        assert!(reply["color"].is_string() && reply["count"].is_i64(), "{reply}");
    }
}

/// Were each property looked for among all that are required, this would take minutes.
#[tokio::test]
async fn large_strict_schema_is_checked_in_linear_time() {
    let world = World::new().await;
    let names: Vec<String> = (0..100_000).map(|number| format!("property_{number:06}")).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names[..99_999],
        "additionalProperties": false});
    let text = json!({"format": schema_of(&schema)});

    let refused = world.client().refused(Mode::Whole, &ask("Hello").field("text", text)).await;

    assert_eq!(refused.body["error"]["code"], "invalid_json_schema");
    let text = json!({"format": {"type": "json_schema", "name": "answer", "schema": schema}});
    let asking = ask("Hello").model(SIM).field("text", text);
    world.client().create(Mode::Whole, &asking).await;
}
