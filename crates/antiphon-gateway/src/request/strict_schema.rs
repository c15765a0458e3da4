//! Checks strict schemas.
//!
//! Source: the provider's guide to structured outputs (the root is an object, every object has
//! `additionalProperties: false`, every property is required), and its error texts, which contain
//! the path as a Python tuple: `()`, `('properties', 'a', 'items')`.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::error::ApiError;

/// Keys whose value maps names to schemas, and keys whose value is a list of schemas.
const BY_NAME: [&str; 3] = ["properties", "$defs", "definitions"];
const LISTED: [&str; 1] = ["anyOf"];

/// Checks that a provider can enforce the schema.
pub(super) fn check_strict_schema(name: &str, schema: &Value) -> Result<(), ApiError> {
    let refused = |reason| ApiError::InvalidSchema { name: name.to_owned(), reason };
    if schema["type"] != "object" && schema.get("$ref").is_none() {
        let got = schema["type"].as_str().unwrap_or("None");
        let message = "schema must be a JSON Schema of 'type: \"object\"'";
        return Err(refused(format!("{message}, got 'type: \"{got}\"'.")));
    }
    let mut path = Vec::new();
    check(schema, &mut path).map_err(|what| refused(format!("In context={}, {what}", tuple(&path))))
}

/// Checks a schema and its subschemas. After an error, `path` is the path of the invalid one.
fn check<'a>(schema: &'a Value, path: &mut Vec<Cow<'a, str>>) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Ok(()) };
    if describes_object(schema) {
        check_object(schema)?;
    }
    for key in BY_NAME {
        if let Some(Value::Object(named)) = schema.get(key) {
            let named = named.iter().map(|(name, schema)| (Cow::Borrowed(&**name), schema));
            check_all(key, named, path)?;
        }
    }
    for key in LISTED {
        if let Some(Value::Array(listed)) = schema.get(key) {
            let numbered = (0..).map(|number: usize| Cow::Owned(number.to_string()));
            check_all(key, numbered.zip(listed), path)?;
        }
    }
    if let Some((key, items)) = schema.get_key_value("items") {
        path.push(Cow::Borrowed(key));
        check(items, path)?;
        path.pop();
    }
    Ok(())
}

fn check_all<'a>(
    key: &'a str,
    schemas: impl Iterator<Item = (Cow<'a, str>, &'a Value)>,
    path: &mut Vec<Cow<'a, str>>,
) -> Result<(), String> {
    for (name, schema) in schemas {
        path.extend([Cow::Borrowed(key), name]);
        check(schema, path)?;
        path.truncate(path.len() - 2);
    }
    Ok(())
}

fn describes_object(schema: &Map<String, Value>) -> bool {
    let is_object = |kind: &Value| kind == "object";
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_object),
        Some(kind) => is_object(kind),
        None => schema.contains_key("properties"),
    }
}

fn check_object(schema: &Map<String, Value>) -> Result<(), String> {
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err("'additionalProperties' is required to be supplied and to be false.".into());
    }
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice);
    let required: Vec<&str> =
        required.unwrap_or_default().iter().filter_map(Value::as_str).collect();
    let known: HashSet<&str> = required.iter().copied().collect();
    let rule = "'required' is required to be supplied and to be an array including every key in \
                properties.";
    let missing = properties.keys().find(|key| !known.contains(key.as_str()));
    let extra = required.iter().find(|key| !properties.contains_key(**key));
    match (missing, extra) {
        (Some(key), _) => Err(format!("{rule} Missing '{key}'.")),
        (None, Some(key)) => Err(format!("{rule} Extra required key '{key}' supplied.")),
        (None, None) => Ok(()),
    }
}

/// The path in the form of a Python tuple.
fn tuple(path: &[Cow<'_, str>]) -> String {
    match path {
        [] => "()".to_owned(),
        [one] => format!("('{one}',)"),
        several => format!("('{}')", several.join("', '")),
    }
}
