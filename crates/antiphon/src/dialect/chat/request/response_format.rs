//! `text` and `reasoning`: the format of the answer, and the reasoning effort.

use super::body::Body;
use super::report::{Report, unsupported};
use crate::dialect::chat::fields::Fields;
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::Object;

/// Writes `response_format`, `verbosity` and `reasoning_effort`.
pub(super) fn encode(
    request: &Object<'_>,
    body: &mut Body,
    report: &mut Report,
) -> Result<(), Unsupported> {
    if let Some(text) = object(request, "text")? {
        if let Some(format) = object(&text, "format").map_err(|_| not_an_object("text.format"))? {
            body.present("response_format", response_format(&format)?.as_deref());
        }
        body.present("verbosity", text.present("verbosity"));
        leave_out_others("text", &text, &["format", "verbosity"], report);
    }
    if let Some(reasoning) = object(request, "reasoning")? {
        body.present("reasoning_effort", reasoning.present("effort"));
        leave_out_others("reasoning", &reasoning, &["effort"], report);
    }
    Ok(())
}

/// The format in the form of Chat Completions, which nests the schema one level deeper. Plain text
/// is the default.
fn response_format(format: &Object<'_>) -> Result<Option<String>, Unsupported> {
    match format.string("type").as_deref() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(r#"{"type":"json_object"}"#.into())),
        Some("json_schema") => {
            let fields = format.iter().filter(|(name, raw)| *name != "type" && *raw != "null");
            let schema = Fields::new().all(fields).json();
            Ok(Some(Fields::with_type("json_schema").raw("json_schema", &schema).json()))
        }
        _ => {
            let because = "its formats are text, json_object and json_schema";
            Err(unsupported(RequestPath::field("text.format.type"), because))
        }
    }
}

/// Reports the other fields, for example a summary of the reasoning, which the API cannot request.
fn leave_out_others(field: &str, object: &Object<'_>, carried: &[&str], report: &mut Report) {
    for (name, raw) in object.iter() {
        if raw != "null" && !carried.contains(&name) {
            report.leave_out(RequestPath::field(format!("{field}.{name}")), "it has no such field");
        }
    }
}

fn object<'a>(parent: &'a Object<'_>, field: &str) -> Result<Option<Object<'a>>, Unsupported> {
    let value = parent.present(field).map(|raw| Object::parse(raw.as_bytes()));
    value.transpose().map_err(|_| not_an_object(field))
}

fn not_an_object(field: &str) -> Unsupported {
    unsupported(RequestPath::field(field), "expected an object")
}
