//! The strict form of a JSON schema.
//!
//! Source: the provider's documentation of structured outputs. Every object lists its fields, all
//! of them are required, and it allows no others; a field is optional if it may be `null`. `oneOf`,
//! `allOf`, `prefixItems`, `patternProperties` and `default` are rejected. So are fields next to
//! `$ref`, and a root that is not an object.
//!
//! Constraints that the strict form cannot express, such as `minLength`, are left out. They are
//! checked when the arguments are validated.

use serde_json::{Map, Value, json};

/// The reason why a schema cannot be sent to a provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaFault {
    /// The type is not an object with named fields.
    #[error("the type is not an object: use a struct with named fields")]
    NotAnObject,
    /// A map: an object with arbitrary keys.
    #[error(
        "`{0}` is a map, and a strict schema lists all keys: use a list of structs with a field \
         for the key, or turn off `strict`"
    )]
    Map(String),
    /// A value of any form.
    #[error("`{0}` may be any JSON value: give it a type, or turn off `strict`")]
    AnyValue(String),
    /// A tuple: an array with a schema for each position.
    #[error("`{0}` is a tuple, and a strict schema has none: use a struct, or turn off `strict`")]
    Tuple(String),
    /// A value that has to match several schemas.
    #[error(
        "`{0}` combines several schemas, perhaps by `#[serde(flatten)]`: use a field for each of \
         them, or turn off `strict`"
    )]
    Combination(String),
    /// A reference to a definition that the schema does not contain.
    #[error("the schema contains no definition `{0}`")]
    UnknownDefinition(String),
}

/// Keywords that mean the same in the strict form.
const KEPT: [&str; 9] = [
    "description",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
];

/// The formats of strings that the strict form knows.
const FORMATS: [&str; 9] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// The strict form of a schema.
pub(super) fn strict_form(schema: &Value) -> Result<Value, SchemaFault> {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let root = object_root(schema)?;
    let converter = Converter { definitions };
    let mut strict = converter.convert(root, "")?;
    if let Some(definitions) = definitions {
        let converted = definitions
            .iter()
            .map(|(name, definition)| Ok((name.clone(), converter.convert(definition, name)?)));
        strict["$defs"] = Value::Object(converted.collect::<Result<_, _>>()?);
    }
    Ok(strict)
}

/// The schema of an object without annotations of the whole.
pub(super) fn hint(schema: &Value) -> Result<Value, SchemaFault> {
    let mut hint = object_root(schema)?.clone();
    if let (Some(definitions), None) = (schema.get("$defs"), hint.get("$defs")) {
        hint["$defs"] = definitions.clone();
    }
    if let Some(root) = hint.as_object_mut() {
        root.remove("$schema");
        root.remove("title");
        // The API requires the field.
        root.entry("properties").or_insert_with(|| json!({}));
    }
    Ok(hint)
}

/// The root of a schema; a root that refers to a definition is replaced by it.
fn object_root(schema: &Value) -> Result<&Value, SchemaFault> {
    let root = resolve(schema, schema);
    if root["type"] == "object" { Ok(root) } else { Err(SchemaFault::NotAnObject) }
}

/// Follows the references of `schema` in the document `root`.
pub(super) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    /// No generated schema has a longer chain. A schema from elsewhere may refer to itself.
    const LONGEST_CHAIN: usize = 16;
    for _ in 0..LONGEST_CHAIN {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|it| root.pointer(it.strip_prefix('#')?));
        let Some(target) = target else { break };
        schema = target;
    }
    schema
}

/// Whether `null` matches the schema, as far as the schema itself shows.
pub(super) fn accepts_null(schema: &Value) -> bool {
    let has_null = |values: &Value, null: &Value| match values {
        Value::Array(values) => values.contains(null),
        value => value == null,
    };
    let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array());
    has_null(&schema["type"], &json!("null"))
        || alternatives.flatten().any(accepts_null)
        || schema.get("const").is_some_and(Value::is_null)
        || *schema == true
        || schema.as_object().is_some_and(|it| it.keys().all(|key| is_annotation(key)))
}

fn is_annotation(key: &str) -> bool {
    matches!(key, "$schema" | "default" | "description" | "examples" | "title")
}

struct Converter<'a> {
    definitions: Option<&'a Map<String, Value>>,
}

impl Converter<'_> {
    /// The strict form of the schema of the field `path`.
    fn convert(&self, schema: &Value, path: &str) -> Result<Value, SchemaFault> {
        let Some(fields) = schema.as_object() else {
            return Err(SchemaFault::AnyValue(path.to_owned()));
        };
        if let Some(reference) = fields.get("$ref") {
            return self.reference(reference, fields.get("description"));
        }
        let mut strict = kept(fields);
        let is_object = has_type(schema, "object");
        if let Some(alternatives) = alternatives(fields) {
            if is_object || fields.contains_key("properties") {
                return Err(SchemaFault::Combination(path.to_owned()));
            }
            let converted = alternatives.iter().map(|schema| self.convert(schema, path));
            strict.insert("anyOf".to_owned(), converted.collect::<Result<_, _>>()?);
            return Ok(strict.into());
        }
        if let Some(parts) = fields.get("allOf").and_then(Value::as_array) {
            return self.all_of(parts, &strict, path);
        }
        if let Some(values) = fixed_values(fields) {
            strict.insert("enum".to_owned(), values);
        } else if !fields.contains_key("type") {
            return Err(SchemaFault::AnyValue(path.to_owned()));
        }
        if is_object {
            self.object(fields, &mut strict, path)?;
        }
        if has_type(schema, "array") {
            self.array(fields, &mut strict, path)?;
        }
        Ok(strict.into())
    }

    /// A reference. A description is not allowed next to it, so it is written around it.
    fn reference(
        &self,
        reference: &Value,
        description: Option<&Value>,
    ) -> Result<Value, SchemaFault> {
        let name = reference.as_str().unwrap_or_default();
        let defined = name.strip_prefix("#/$defs/").map(|name| name.replace("~1", "/"));
        let defined = defined.is_some_and(|name| {
            self.definitions.is_some_and(|it| it.contains_key(&name.replace("~0", "~")))
        });
        if !defined && name != "#" {
            return Err(SchemaFault::UnknownDefinition(name.to_owned()));
        }
        Ok(match description {
            None => json!({"$ref": reference}),
            Some(text) => json!({"description": text, "anyOf": [{"$ref": reference}]}),
        })
    }

    /// The only part of an `allOf`, with the description next to it.
    fn all_of(
        &self,
        parts: &[Value],
        outer: &Map<String, Value>,
        path: &str,
    ) -> Result<Value, SchemaFault> {
        let [part] = parts else { return Err(SchemaFault::Combination(path.to_owned())) };
        let mut part = part.clone();
        if let (Some(fields), Some(description)) = (part.as_object_mut(), outer.get("description"))
        {
            fields.insert("description".to_owned(), description.clone());
        }
        self.convert(&part, path)
    }

    /// Converts the fields of an object. All are required; the optional ones may be `null`.
    fn object(
        &self,
        fields: &Map<String, Value>,
        strict: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), SchemaFault> {
        let is_open = fields.get("additionalProperties").is_some_and(|it| *it != false);
        if is_open || fields.contains_key("patternProperties") {
            return Err(SchemaFault::Map(path.to_owned()));
        }
        let none = Map::new();
        let properties = fields.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = fields.get("required").and_then(Value::as_array);
        let mut converted = Map::new();
        for (name, schema) in properties {
            let property = self.convert(schema, &join(path, name))?;
            let is_required = required.is_some_and(|it| it.iter().any(|it| it == name));
            let property = if is_required { property } else { nullable(property) };
            converted.insert(name.clone(), property);
        }
        let names: Value = converted.keys().map(String::as_str).collect();
        strict.insert("properties".to_owned(), converted.into());
        strict.insert("required".to_owned(), names);
        strict.insert("additionalProperties".to_owned(), false.into());
        Ok(())
    }

    fn array(
        &self,
        fields: &Map<String, Value>,
        strict: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), SchemaFault> {
        if fields.contains_key("prefixItems") {
            return Err(SchemaFault::Tuple(path.to_owned()));
        }
        let path = format!("{path}[]");
        let items = fields.get("items").ok_or_else(|| SchemaFault::AnyValue(path.clone()))?;
        strict.insert("items".to_owned(), self.convert(items, &path)?);
        Ok(())
    }
}

/// The path of a field of `parent`.
pub(super) fn join(parent: &str, field: &str) -> String {
    if parent.is_empty() { field.to_owned() } else { format!("{parent}.{field}") }
}

/// The keywords that stay as they are.
fn kept(fields: &Map<String, Value>) -> Map<String, Value> {
    let stays = |(key, value): &(&String, &Value)| match key.as_str() {
        "type" => true,
        "format" => FORMATS.iter().any(|format| *value == format),
        key => KEPT.contains(&key),
    };
    fields.iter().filter(stays).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The schemas of which one has to match.
fn alternatives(fields: &Map<String, Value>) -> Option<&Vec<Value>> {
    fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array)
}

/// The list of all allowed values, if the schema has one.
fn fixed_values(fields: &Map<String, Value>) -> Option<Value> {
    let single = || fields.get("const").map(|value| json!([value]));
    fields.get("enum").cloned().or_else(single)
}

fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(names) => names.iter().any(|it| it == name),
        one => one == name,
    }
}

/// The strict schema `schema` that also allows `null`.
fn nullable(mut schema: Value) -> Value {
    if accepts_null(&schema) {
        return schema;
    }
    if let Some(alternatives) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        alternatives.push(json!({"type": "null"}));
        return schema;
    }
    if schema.get("enum").is_none() && schema["type"].is_string() {
        schema["type"] = json!([schema["type"], "null"]);
        return schema;
    }
    let description = schema.as_object_mut().and_then(|it| it.remove("description"));
    let mut union = json!({"anyOf": [schema, {"type": "null"}]});
    if let Some(description) = description {
        union["description"] = description;
    }
    union
}
