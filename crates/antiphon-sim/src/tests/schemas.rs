//! JSON from schemas: always valid, and filled from the text.

use serde_json::{Value, json};

use super::{SimError, ask, function, try_ask};

/// The arguments that `text` gives to a tool `run` with these parameters.
fn arguments(text: &str, parameters: &Value) -> Value {
    let tools = [function("run", parameters.clone())];
    let answered = ask(json!({ "input": text, "tools": tools }));
    let [(_, arguments)] = &answered.calls()[..] else { panic!("not one call") };
    let validator = jsonschema::validator_for(parameters).unwrap();
    assert!(validator.is_valid(arguments), "{arguments} is not valid by {parameters}");
    arguments.clone()
}

fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The value of one required property with this schema.
fn value(text: &str, schema: Value) -> Value {
    arguments(text, &object(json!({ "x": schema })))["x"].clone()
}

#[test]
fn strings_are_taken_from_the_text() {
    assert_eq!(value("run with some words", json!({ "type": "string" })), "some words");
    assert_eq!(
        value("run with the \"quoted ones\" here", json!({ "type": "string" })),
        "quoted ones"
    );
    let two = object(json!({ "path": { "type": "string" }, "content": { "type": "string" } }));
    assert_eq!(
        arguments("run with path a.txt and content: 'b, c'", &two),
        json!({ "path": "a.txt", "content": "b, c" })
    );
    assert_eq!(
        arguments(
            "run \"first\" \"second\"",
            &object(json!({ "a": { "type": "string" }, "b": { "type": "string" } }))
        ),
        json!({ "a": "first", "b": "second" })
    );
}

#[test]
fn strings_keep_their_limits_and_formats() {
    assert_eq!(value("run abcdef", json!({ "type": "string", "maxLength": 3 })), "abc");
    assert_eq!(value("run a", json!({ "type": "string", "minLength": 4 })), "a...");
    for format in ["date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"]
    {
        let schema = object(json!({ "x": { "type": "string", "format": format } }));
        let arguments = arguments("run it somehow", &schema);
        let strict = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        assert!(strict.is_valid(&arguments), "{arguments} for {format}");
    }
}

#[test]
fn places_follow_in_or_for() {
    let schema = json!({ "type": "string", "description": "The city to look up" });
    assert_eq!(value("run it for me in Paris, please", schema.clone()), "Paris");
    assert_eq!(value("In San Francisco, run it", schema), "San Francisco");
}

#[test]
fn numbers_are_taken_in_order() {
    let integer = json!({ "type": "integer" });
    let number = json!({ "type": "number" });
    assert_eq!(value("run 7 times", integer.clone()), 7);
    assert_eq!(value("run", integer.clone()), 1);
    assert_eq!(value("run with 2.75", integer), 2);
    assert_eq!(value("run with -2.75", number.clone()), -2.75);
    let named = object(json!({ "a": number, "limit": { "type": "integer" } }));
    assert_eq!(arguments("run 3 with limit 50", &named), json!({ "a": 3, "limit": 50 }));
}

#[test]
fn numbers_keep_their_limits() {
    assert_eq!(value("run 500", json!({ "type": "integer", "maximum": 100 })), 100);
    assert_eq!(value("run", json!({ "type": "integer", "minimum": 18 })), 18);
    assert_eq!(value("run 7", json!({ "type": "integer", "multipleOf": 5 })), 10);
    assert_eq!(value("run 0", json!({ "type": "integer", "exclusiveMinimum": 0 })), 1);
    value("run 9", json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }));
    value("run 9", json!({ "type": "integer", "minimum": 1.5, "maximum": 2.5 }));
}

#[test]
fn booleans_are_true_unless_negated() {
    let schema = object(json!({ "verbose": { "type": "boolean" } }));
    assert_eq!(arguments("run", &schema), json!({ "verbose": true }));
    assert_eq!(arguments("run with verbose=false", &schema), json!({ "verbose": false }));
}

#[test]
fn option_is_the_named_or_the_first_one() {
    let schema = json!({ "type": "string", "enum": ["low", "very_high"] });
    assert_eq!(value("run", schema.clone()), "low");
    assert_eq!(value("run at very high speed", schema), "very_high");
    assert_eq!(value("run 3", json!({ "enum": [1, 2, 3] })), 3);
    assert_eq!(value("run", json!({ "const": "fixed" })), "fixed");
}

#[test]
fn arrays_have_one_or_the_required_number_of_elements() {
    let items = json!({ "type": "string" });
    assert_eq!(value("run a b", json!({ "type": "array", "items": items })), json!(["a b"]));
    let three = json!({ "type": "array", "items": { "type": "integer" }, "minItems": 3 });
    assert_eq!(value("run 1 2 3", three), json!([1, 2, 3]));
    assert_eq!(value("run", json!({ "type": "array", "maxItems": 0 })), json!([]));
    let pair =
        json!({ "type": "array", "prefixItems": [{ "type": "boolean" }, { "type": "null" }] });
    assert_eq!(value("run", pair), json!([true, null]));
}

#[test]
fn objects_have_required_and_named_properties() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "limit": { "type": "integer" },
            "order": { "enum": ["oldest", "newest"] },
            "page": { "type": "integer" },
        },
        "required": ["query"],
    });
    assert_eq!(arguments("run 'cats'", &schema), json!({ "query": "cats" }));
    assert_eq!(
        arguments("run 'cats', newest first, limit 5", &schema),
        json!({ "query": "cats", "limit": 5, "order": "newest" })
    );
    let optional = json!({ "type": "object", "properties": { "a": {}, "b": { "type": "null" } } });
    assert_eq!(arguments("run x", &optional), json!({ "a": "x", "b": null }));
}

#[test]
fn nested_objects_are_filled() {
    let place =
        object(json!({ "city": { "type": "string" }, "zip": { "type": ["integer", "null"] } }));
    assert_eq!(
        arguments("run in Oslo 0150", &object(json!({ "where": place }))),
        json!({ "where": { "city": "Oslo 0150", "zip": 150 } })
    );
}

#[test]
fn references_and_choices_are_followed() {
    let schema = json!({
        "type": "object",
        "$defs": { "Name": { "type": "string", "maxLength": 4 } },
        "properties": {
            "ref": { "$ref": "#/$defs/Name" },
            "either": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/Name" }] },
            "all": { "allOf": [{ "$ref": "#/$defs/Name" }], "description": "One name" },
            "nothing": { "oneOf": [{ "type": "null" }] },
        },
        "required": ["ref", "either", "all", "nothing"],
    });
    assert_eq!(
        arguments("run Alexander", &schema),
        json!({ "ref": "Alex", "either": "Alex", "all": "Alex", "nothing": null })
    );
    let beside = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "anyOf": [{ "required": ["b"] }, { "required": ["a"] }],
    });
    assert_eq!(arguments("run 4", &beside), json!({ "b": 4 }));
}

#[test]
fn recursive_schema_ends_as_early_as_allowed() {
    let list = json!({
        "type": "object",
        "properties": {
            "value": { "type": "integer" },
            "next": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] },
        },
        "required": ["value", "next"],
    });
    arguments("run 1", &list);
    let tree = json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["children"],
    });
    arguments("run 1", &tree);
}

#[test]
fn schemas_without_a_value_are_refused() {
    for (parameters, fault) in [
        (
            json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a"] }),
            "it asks for a value without end",
        ),
        (
            object(json!({ "a": { "type": "array", "minItems": 1_000_000_000 } })),
            "it asks for a value without end",
        ),
        (
            object(json!({ "a": { "$ref": "#/$defs/nowhere" } })),
            "a '$ref' names nothing in the schema",
        ),
        (
            object(json!({ "a": { "type": "text" } })),
            "'type' must be one of the seven types of JSON",
        ),
        (object(json!({ "a": { "enum": [] } })), "'enum' must not be empty"),
        (object(json!({ "a": 5 })), "a schema must be an object"),
        (object(json!({ "a": false })), "'false' allows no value"),
        (json!({ "type": "object", "properties": [] }), "'properties' must be an object"),
        (json!({ "type": "object", "required": "a" }), "'required' must be an array of names"),
        (json!({ "type": "array" }), "its type must be 'object'"),
    ] {
        let tools = [function("run", parameters)];
        let refused = try_ask(json!({ "input": "run", "tools": tools })).err();
        let subject = "function 'run'".to_owned();
        assert_eq!(refused, Some(SimError::Schema { subject, fault }));
    }
}

#[test]
fn exploding_schema_is_refused_quickly() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        definitions.insert(format!("l{level}"), object(json!({ "a": next, "b": next })));
    }
    definitions.insert("l40".to_owned(), json!({ "type": "string" }));
    let mut parameters = object(json!({ "a": { "$ref": "#/$defs/l0" } }));
    parameters["$defs"] = Value::Object(definitions);
    let refused = try_ask(json!({ "input": "run", "tools": [function("run", parameters)] }));
    assert!(matches!(refused.err(), Some(SimError::Schema { .. })));
}

#[test]
fn long_text_is_not_repeated_endlessly() {
    let names = (0..20).map(|index| (format!("p{index}"), json!({ "type": "string" })));
    let schema = object(Value::Object(names.collect()));
    let given = arguments(&format!("run {}", "word ".repeat(10_000)), &schema);
    assert!(given.to_string().len() < 110_000);
}
