//! Validates arguments with the schema of their type, and finds everything that is wrong.
//!
//! Providers without strict schemas let a model write other arguments. Serde stops at the first
//! error, ignores unknown fields, and refuses a `null` for an optional field. So this comes first.
//! `pattern`, `format` and the keywords that schemars never writes are not checked.

use serde_json::{Map, Value};

use super::arguments::ArgumentFault;
use super::strict::{accepts_null, join, resolve};

/// Deeper values are not checked. Only a schema that refers to itself leads there.
const DEEPEST: usize = 256;

/// The number of values after which the rest is not checked: alternatives within alternatives are
/// tried many times.
const MOST_STEPS: usize = 100_000;

/// The longest text of a wrong value in a fault, in characters.
const LONGEST_VALUE: usize = 60;

/// Validates `value`, and removes each `null` of an optional field that is not `null` in its type.
/// Returns whether it removed any. With `rejects_unknown`, objects may have listed fields only.
pub(super) fn validate(
    schema: &Value,
    value: &mut Value,
    rejects_unknown: bool,
) -> Result<bool, Vec<ArgumentFault>> {
    let mut validator = Validator {
        root: schema,
        rejects_unknown,
        has_changed: false,
        depth: 0,
        steps: 0,
        faults: Vec::new(),
    };
    validator.check(schema, value, "");
    if validator.faults.is_empty() { Ok(validator.has_changed) } else { Err(validator.faults) }
}

struct Validator<'a> {
    root: &'a Value,
    rejects_unknown: bool,
    has_changed: bool,
    depth: usize,
    steps: usize,
    faults: Vec<ArgumentFault>,
}

impl<'a> Validator<'a> {
    fn check(&mut self, schema: &'a Value, value: &mut Value, path: &str) {
        self.steps += 1;
        let schema = resolve(self.root, schema);
        let Some(fields) = schema.as_object() else { return };
        if self.depth == DEEPEST || self.steps > MOST_STEPS {
            return;
        }
        self.depth += 1;
        self.check_fields(schema, fields, value, path);
        self.depth -= 1;
    }

    fn check_fields(
        &mut self,
        schema: &'a Value,
        fields: &'a Map<String, Value>,
        value: &mut Value,
        path: &str,
    ) {
        if !may_match(schema, value) || !is_allowed(fields, value) {
            let expected = describe(self.root, schema);
            return self.report(path, format!("expected {expected}, got {}", quoted(value)));
        }
        self.check_bounds(fields, value, path);
        if let Some(parts) = fields.get("allOf").and_then(Value::as_array) {
            self.open(|it| parts.iter().for_each(|part| it.check(part, value, path)));
        }
        if let Some(alternatives) = alternatives(fields) {
            // Of a flattened enum, each alternative has some of the fields.
            if fields.contains_key("properties") {
                self.open(|it| it.check_alternatives(alternatives, value, path));
            } else {
                self.check_alternatives(alternatives, value, path);
            }
        }
        match value {
            Value::Object(object) => self.check_object(fields, object, path),
            Value::Array(items) => self.check_items(fields, items, path),
            _ => {}
        }
    }

    /// Runs `check` without the rejection of unknown fields.
    fn open(&mut self, check: impl FnOnce(&mut Self)) {
        let rejects_unknown = std::mem::replace(&mut self.rejects_unknown, false);
        check(self);
        self.rejects_unknown = rejects_unknown;
    }

    fn check_object(
        &mut self,
        fields: &'a Map<String, Value>,
        object: &mut Map<String, Value>,
        path: &str,
    ) {
        let properties = fields.get("properties").and_then(Value::as_object);
        let schema_of = |name: &str| properties.and_then(|it| it.get(name));
        let required = fields.get("required").and_then(Value::as_array);
        let required: Vec<&str> =
            required.into_iter().flatten().filter_map(Value::as_str).collect();
        for name in required.iter().filter(|name| !object.contains_key(**name)) {
            let problem = match schema_of(name) {
                Some(schema) => format!("missing; expected {}", describe(self.root, schema)),
                None => "missing".to_owned(),
            };
            self.report(&join(path, name), problem);
        }
        object.retain(|name, value| {
            let Some(schema) = schema_of(name) else { return true };
            let is_absent = value.is_null()
                && !required.contains(&name.as_str())
                && !accepts_null(resolve(self.root, schema));
            self.has_changed |= is_absent;
            !is_absent
        });
        for (name, value) in object.iter_mut() {
            match schema_of(name) {
                Some(schema) => self.check(schema, value, &join(path, name)),
                None => self.check_unlisted(fields, name, value, path),
            }
        }
    }

    /// Checks a field that the schema does not list.
    fn check_unlisted(
        &mut self,
        fields: &'a Map<String, Value>,
        name: &str,
        value: &mut Value,
        path: &str,
    ) {
        let is_rejected = match fields.get("additionalProperties") {
            Some(Value::Bool(is_allowed)) => !is_allowed,
            Some(schema) => return self.check(schema, value, &join(path, name)),
            None => self.rejects_unknown,
        };
        let elsewhere = ["allOf", "anyOf", "oneOf", "patternProperties"];
        if is_rejected && !elsewhere.iter().any(|key| fields.contains_key(*key)) {
            self.report(&join(path, name), unknown_field(fields));
        }
    }

    fn check_items(&mut self, fields: &'a Map<String, Value>, items: &mut [Value], path: &str) {
        let first = fields.get("prefixItems").and_then(Value::as_array);
        let first: &[Value] = first.map_or(&[], Vec::as_slice);
        for (position, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(position).or_else(|| fields.get("items")) {
                self.check(schema, item, &format!("{path}[{position}]"));
            }
        }
    }

    /// Checks the alternative that the value means, or else all of them.
    fn check_alternatives(&mut self, alternatives: &'a [Value], value: &mut Value, path: &str) {
        let resolved = |schema: &&'a Value| resolve(self.root, schema);
        let tagged =
            alternatives.iter().filter(|schema| has_tag_of(self.root, resolved(schema), value));
        let possible = alternatives.iter().filter(|schema| may_match(resolved(schema), value));
        if let Some(meant) = only(tagged).or_else(|| only(possible)) {
            return self.check(meant, value, path);
        }
        let faults = self.faults.len();
        for alternative in alternatives {
            let mut copy = value.clone();
            self.check(alternative, &mut copy, path);
            if self.faults.len() == faults {
                *value = copy;
                return;
            }
            self.faults.truncate(faults);
        }
        if let Some((name, tags, tag)) = unknown_tag(self.root, alternatives, value) {
            return self.report(&join(path, name), format!("expected {tags}, got {}", quoted(tag)));
        }
        let expected: Vec<_> =
            alternatives.iter().map(|schema| shallow(self.root, schema)).collect();
        let expected = expected.join(" or ");
        self.report(path, format!("expected {expected}, got {}", quoted(value)));
    }

    fn check_bounds(&mut self, fields: &Map<String, Value>, value: &Value, path: &str) {
        let (size, unit, [least, most]) = match value {
            Value::Number(number) => {
                let Some(number) = number.as_f64() else { return };
                (number, "", ["minimum", "maximum"])
            }
            Value::String(text) => {
                (size(text.chars().count()), " characters", ["minLength", "maxLength"])
            }
            Value::Array(items) => (size(items.len()), " items", ["minItems", "maxItems"]),
            _ => return,
        };
        let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
        let problem = match (bound(least), bound(most)) {
            (Some(least), _) if size < least => format!("expected at least {least}{unit}"),
            (_, Some(most)) if size > most => format!("expected at most {most}{unit}"),
            _ => match (bound("exclusiveMinimum"), bound("exclusiveMaximum")) {
                (Some(least), _) if size <= least => format!("expected more than {least}"),
                (_, Some(most)) if size >= most => format!("expected less than {most}"),
                _ => return,
            },
        };
        self.report(path, format!("{problem}, got {}", quoted(value)));
    }

    fn report(&mut self, field: &str, problem: String) {
        self.faults.push(ArgumentFault { field: field.to_owned(), problem });
    }
}

fn unknown_field(fields: &Map<String, Value>) -> String {
    let properties = fields.get("properties").and_then(Value::as_object);
    let names: Vec<_> =
        properties.into_iter().flat_map(Map::keys).map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "unknown field; no fields are allowed".to_owned(),
        names => format!("unknown field; the fields are {}", names.join(", ")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^52")]
fn size(length: usize) -> f64 {
    length as f64
}

fn alternatives(fields: &Map<String, Value>) -> Option<&Vec<Value>> {
    fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array)
}

/// The names in the `type` of a schema.
fn type_names(schema: &Value) -> Option<Vec<&str>> {
    match &schema["type"] {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn matches_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => is_integer(value),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Whether Serde reads an integer from the value. It reads none from `1.0`. In a [`Value`],
/// integers of more than 64 bits are fractions; Serde decides about them.
fn is_integer(value: &Value) -> bool {
    let is_large = |number: f64| number.abs() >= 2_f64.powi(63);
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_large)
}

/// Whether the value is one of the listed values, if the schema lists any.
fn is_allowed(fields: &Map<String, Value>, value: &Value) -> bool {
    let listed = fields.get("enum").and_then(Value::as_array);
    listed.is_none_or(|it| it.contains(value)) && fields.get("const").is_none_or(|it| it == value)
}

/// Whether the value has the tag of an alternative: a field with the fixed value that the schema
/// has for it, or the only field of the schema.
fn has_tag_of(root: &Value, schema: &Value, value: &Value) -> bool {
    let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    else {
        return false;
    };
    let has_tag = properties.iter().any(|(name, schema)| {
        let tag = resolve(root, schema).get("const");
        tag.is_some() && tag == object.get(name)
    });
    let is_variant = || {
        schema["additionalProperties"] == false
            && properties.len() == 1
            && properties.keys().all(|name| object.contains_key(name))
    };
    has_tag || is_variant()
}

/// The name of the field that has a fixed value in every alternative, these values, and the value's
/// own, which is none of them.
fn unknown_tag<'a, 'v>(
    root: &'a Value,
    alternatives: &'a [Value],
    value: &'v Value,
) -> Option<(&'a str, String, &'v Value)> {
    let fixed = |schema: &'a Value, name: &str| {
        resolve(root, resolve(root, schema)["properties"].get(name)?).get("const")
    };
    let names = resolve(root, alternatives.first()?)["properties"].as_object()?.keys();
    names.into_iter().find_map(|name| {
        let tags: Option<Vec<_>> = alternatives.iter().map(|it| fixed(it, name)).collect();
        let tags: Vec<_> = tags?.into_iter().map(Value::to_string).collect();
        Some((name.as_str(), tags.join(" or "), value.get(name)?))
    })
}

/// Whether the type of the value is one of the schema's.
fn may_match(schema: &Value, value: &Value) -> bool {
    type_names(schema).is_none_or(|names| names.iter().any(|name| matches_type(name, value)))
}

fn only<T>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next();
    if values.next().is_none() { first } else { None }
}

/// A schema in a few words: `an integer`, `"a" or "b"`.
fn describe(root: &Value, schema: &Value) -> String {
    let schema = resolve(root, schema);
    let Some(fields) = schema.as_object() else { return "any value".to_owned() };
    if let Some(value) = fields.get("const") {
        return value.to_string();
    }
    if let Some(values) = fields.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
    }
    if let Some(schemas) = alternatives(fields) {
        let texts: Vec<_> = schemas.iter().map(|schema| shallow(root, schema)).collect();
        return texts.join(" or ");
    }
    match type_names(schema) {
        Some(names) => names.iter().map(|name| article(name)).collect::<Vec<_>>().join(" or "),
        None => "another value".to_owned(),
    }
}

/// Like [`describe`], without the alternatives of an alternative: a schema may refer to itself.
fn shallow(root: &Value, schema: &Value) -> String {
    let resolved = resolve(root, schema);
    if let Some(properties) = resolved["properties"].as_object() {
        let names: Vec<_> = properties.keys().map(|name| format!("`{name}`")).collect();
        return format!("an object with {}", names.join(", "));
    }
    match resolved.as_object().and_then(alternatives) {
        Some(_) => "another value".to_owned(),
        None => describe(root, resolved),
    }
}

fn article(name: &str) -> String {
    match name {
        "null" => "null".to_owned(),
        "integer" | "object" | "array" => format!("an {name}"),
        name => format!("a {name}"),
    }
}

/// The wrong value as the model wrote it, shortened.
fn quoted(value: &Value) -> String {
    let text = value.to_string();
    let shown = match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    match value {
        Value::String(_) => format!("the string {shown}"),
        Value::Array(_) => format!("the array {shown}"),
        Value::Object(_) => format!("the object {shown}"),
        _ => shown,
    }
}
