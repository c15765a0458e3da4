//! JSON schemas: references and combined schemas.

use serde_json::{Map, Value};

/// The reason for which a schema has no value. It follows `Invalid schema for X: `.
pub(super) type Fault = &'static str;

/// The schema to which a `$ref` points within its document.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Result<&'a Value, Fault> {
    let pointer = reference.strip_prefix('#').ok_or("a '$ref' must begin with '#'")?;
    root.pointer(pointer).ok_or("a '$ref' names nothing in the schema")
}

/// `schema`, merged with the schemas of its `allOf`; `None` if it has no `allOf`.
pub(super) fn with_all_of(
    root: &Value,
    schema: &Map<String, Value>,
) -> Result<Option<Map<String, Value>>, Fault> {
    let Some(parts) = schema.get("allOf") else {
        return Ok(None);
    };
    let mut all = schema.clone();
    all.remove("allOf");
    for part in parts.as_array().ok_or("'allOf' must be an array")? {
        let part = match part.get("$ref").and_then(Value::as_str) {
            Some(reference) => resolve(root, reference)?,
            None => part,
        };
        match part {
            Value::Object(part) => combine(&mut all, part),
            Value::Bool(true) => {}
            _ => return Err("'allOf' must hold schemas that allow a value"),
        }
    }
    Ok(Some(all))
}

/// Adds the demands of `other` to `schema`. In a conflict, `schema` takes precedence.
pub(super) fn combine(schema: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (key, theirs) in other {
        match (schema.get_mut(key), theirs) {
            (None, _) => {
                schema.insert(key.clone(), theirs.clone());
            }
            (Some(Value::Object(ours)), Value::Object(theirs)) if key == "properties" => {
                ours.extend(theirs.clone());
            }
            (Some(Value::Array(ours)), Value::Array(theirs)) if key == "required" => {
                ours.extend(theirs.iter().cloned());
            }
            _ => {}
        }
    }
}

/// The names in `required`.
pub(super) fn required(schema: &Map<String, Value>) -> Result<Vec<&str>, Fault> {
    const FAULT: Fault = "'required' must be an array of names";
    match schema.get("required") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().ok_or(FAULT)).collect(),
        Some(_) => Err(FAULT),
    }
}

/// Whether `schema` allows only null.
pub(super) fn is_null(schema: &Value) -> bool {
    schema["type"] == "null" || schema.get("const").is_some_and(Value::is_null)
}

/// The type of the value: the first one that is not null. With `prefer_null`, null if the schema
/// allows it.
pub(super) fn chosen_type(schema: &Map<String, Value>, prefer_null: bool) -> Result<&str, Fault> {
    const FAULT: Fault = "'type' must be a name or an array of names";
    match schema.get("type") {
        None => Ok(implied_type(schema)),
        Some(Value::String(name)) => Ok(name),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            let null = names.iter().find(|name| prefer_null && **name == "null");
            let other = names.iter().find(|name| **name != "null");
            null.or(other).or(names.first()).copied().ok_or(FAULT)
        }
        Some(_) => Err(FAULT),
    }
}

fn implied_type(schema: &Map<String, Value>) -> &'static str {
    let says = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    if says(&["properties", "required", "additionalProperties"]) {
        "object"
    } else if says(&["items", "prefixItems"]) {
        "array"
    } else {
        "string"
    }
}
