//! Annotations of a text.

use crate::json::Object;

/// Converts an annotation of Chat Completions into raw JSON for the Responses API. The error is the
/// type of an unsupported annotation.
///
/// Sources: OpenAI's search models and OpenRouter nest the fields of a citation under its type:
/// `{"type":"url_citation","url_citation":{"url","title",…}}`. The Responses API has the fields
/// next to the type, and requires all four: a missing index becomes 0, a missing title an empty
/// string.
pub(super) fn in_responses_form(annotation: &Object<'_>) -> Result<String, String> {
    let kind = annotation.string("type").unwrap_or_default();
    if kind != "url_citation" {
        return Err(kind.into_owned());
    }
    let nested = annotation.object("url_citation");
    let source = nested.as_ref().unwrap_or(annotation);
    let mut citation = Object::default();
    citation.set("type", r#""url_citation""#);
    for key in ["start_index", "end_index"] {
        let given = source.get(key).filter(|raw| raw.parse::<u64>().is_ok());
        citation.set(key, given.unwrap_or("0").to_owned());
    }
    for key in ["url", "title"] {
        let given = source.get(key).filter(|raw| raw.starts_with('"'));
        citation.set(key, given.unwrap_or("\"\"").to_owned());
    }
    Ok(citation.to_text())
}
