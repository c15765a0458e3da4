//! Converts citations into annotations.
//!
//! Sources: Anthropic's documentation of citations and of the web search tool; the annotation types
//! of the Responses API. A citation refers to the whole text of its block, so its annotation covers
//! all characters of the part.
//!
//! | citation | annotation |
//! |---|---|
//! | `web_search_result_location` | `url_citation` |
//! | `search_result_location` whose `source` is a URL | `url_citation` |
//! | `char_location`, `page_location` of a document with a `file_id` | `file_citation` |
//! | `content_block_location` of a document with a `file_id` | `file_citation` |
//! | any other | left out: the types of the Responses API require a URL or a file |

use serde_json::value::RawValue;

use crate::json::{Object, quote};

/// The result of converting a citation.
pub(super) enum ConvertedCitation {
    /// An annotation, raw.
    Annotation(String),
    /// The Responses API has no annotation for it.
    Unsupported {
        /// The citation's type.
        kind: String,
    },
}

/// Converts a citation of a text with `length` characters.
pub(super) fn annotation(citation: &str, length: u64) -> ConvertedCitation {
    let citation = Object::parse(citation.as_bytes()).unwrap_or_default();
    let kind = citation.string("type").unwrap_or_default();
    let annotation = match &*kind {
        "web_search_result_location" => url_citation(&citation, "url", length),
        "search_result_location" => url_citation(&citation, "source", length),
        "char_location" | "page_location" | "content_block_location" => file_citation(&citation),
        _ => None,
    };
    annotation.map_or_else(
        || ConvertedCitation::Unsupported { kind: kind.into_owned() },
        ConvertedCitation::Annotation,
    )
}

/// The citations in a raw list.
pub(super) fn in_list(raw: Option<&str>) -> Vec<&str> {
    let citations: Option<Vec<&RawValue>> = raw.and_then(|raw| serde_json::from_str(raw).ok());
    citations.unwrap_or_default().into_iter().map(RawValue::get).collect()
}

fn url_citation(citation: &Object<'_>, key: &str, length: u64) -> Option<String> {
    let url = citation.string(key).filter(|url| url.contains("://"))?;
    let title = citation.string("title").unwrap_or_default();
    let (url, title) = (quote(&url), quote(&title));
    let range = format!(r#""start_index":0,"end_index":{length}"#);
    Some(format!(r#"{{"type":"url_citation","url":{url},"title":{title},{range}}}"#))
}

fn file_citation(citation: &Object<'_>) -> Option<String> {
    let file_id = quote(&citation.string("file_id")?);
    let filename = quote(&citation.string("document_title").unwrap_or_default());
    let index: u64 = citation.get("document_index").and_then(|raw| raw.parse().ok()).unwrap_or(0);
    Some(format!(
        r#"{{"type":"file_citation","file_id":{file_id},"filename":{filename},"index":{index}}}"#
    ))
}
