//! Notes on a text: where it was found.

use crate::json::Object;

/// An annotation of Chat Completions as the Responses API has it, raw; the type of one that has no
/// such form is the error.
///
/// Sources: OpenAI's search models and OpenRouter nest the fields of a citation under its type:
/// `{"type":"url_citation","url_citation":{"url","title",…}}`. The Responses API has them beside the
/// type, and requires all four: an index that is not given is 0, a title that is not given is empty.
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
