//! Google's form of a schema, which is that of `OpenAPI` 3.0, as a JSON schema.
//!
//! Google also reads a JSON schema in this form, and Gemini CLI sends types in upper case in the
//! fields for JSON schemas.
//!
//! Source: Google's reference of `Schema`.

use crate::json::{Object, elements, quote, unquote};

/// Numbers that Google's JSON holds as strings, because they are 64-bit integers.
const COUNTS: [&str; 6] =
    ["maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"];

/// Converts a raw schema. The order of the fields and of the properties stays.
///
/// Types become lower case, `nullable` becomes the type `null`, and counts become numbers.
/// `propertyOrdering` is left out: it has no effect on the validity of values.
pub(super) fn to_json_schema(raw: &str) -> String {
    let Ok(schema) = Object::parse_str(raw) else { return raw.to_owned() };
    let is_nullable = schema.is_true("nullable");
    let mut converted = Object::default();
    for (key, raw) in schema.iter() {
        if let Some(raw) = convert_field(key, raw, is_nullable) {
            let key = if key == "any_of" { "anyOf" } else { key };
            converted.set(key.to_owned(), raw);
        }
    }
    converted.to_text()
}

/// The converted value of a field; `None` if the field is left out.
fn convert_field(key: &str, raw: &str, is_nullable: bool) -> Option<String> {
    Some(match key {
        "nullable" | "propertyOrdering" | "property_ordering" => return None,
        "type" => convert_type(raw, is_nullable)?,
        "enum" if is_nullable => nullable_enum(raw),
        "items" | "additionalProperties" => to_json_schema(raw),
        "anyOf" | "any_of" | "allOf" | "oneOf" | "prefixItems" => convert_all(raw),
        "properties" | "$defs" | "definitions" => convert_named(raw),
        key if COUNTS.contains(&key) => unquote(raw).map_or_else(|| raw.to_owned(), Into::into),
        _ => raw.to_owned(),
    })
}

/// The type in lower case. `None` if it is unspecified, as for any type.
fn convert_type(raw: &str, is_nullable: bool) -> Option<String> {
    let Some(kind) = unquote(raw) else { return Some(raw.to_owned()) };
    let name = quote(&kind.to_ascii_lowercase());
    match is_nullable {
        _ if kind == "TYPE_UNSPECIFIED" => None,
        true => Some(format!(r#"[{name},"null"]"#)),
        false => Some(name),
    }
}

fn nullable_enum(raw: &str) -> String {
    match raw.strip_suffix(']').map(str::trim_end) {
        Some(values) if values.len() > 1 => format!("{values},null]"),
        _ => raw.to_owned(),
    }
}

fn convert_all(raw: &str) -> String {
    let schemas = elements(raw).unwrap_or_default().into_iter();
    let schemas: Vec<String> = schemas.map(to_json_schema).collect();
    format!("[{}]", schemas.join(","))
}

fn convert_named(raw: &str) -> String {
    let Ok(named) = Object::parse_str(raw) else { return raw.to_owned() };
    let mut converted = Object::default();
    for (name, raw) in named.iter() {
        converted.set(name.to_owned(), to_json_schema(raw));
    }
    converted.to_text()
}
