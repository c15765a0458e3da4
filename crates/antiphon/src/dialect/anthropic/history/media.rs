//! Images and documents as parts.

use super::block::required_field;
use crate::dialect::base64;
use crate::json::{Object, push_quoted, unquote};

/// Converts an `image` or a `document` block into a part. Returns `None` for other blocks, and for
/// sources that no part can represent. The error is the reason why the block is invalid.
pub(super) fn part(kind: &str, block: &Object<'_>) -> Result<Option<String>, String> {
    if !matches!(kind, "image" | "document") {
        return Ok(None);
    }
    let source = required_field(block, "source", '{')?;
    let source = Object::parse(source.as_bytes()).map_err(|error| error.to_string())?;
    let place = match kind {
        "image" => image_place(&source),
        _ => file_place(&source),
    };
    Ok(place.map_err(|reason| format!("source.{reason}"))?.map(|(field, content)| {
        let name = block.get("title").filter(|raw| kind == "document" && raw.starts_with('"'));
        let name = name.map(|name| format!(r#","filename":{name}"#)).unwrap_or_default();
        let kind = if kind == "image" { "input_image" } else { "input_file" };
        format!(r#"{{"type":"{kind}","{field}":{content}{name}}}"#)
    }))
}

/// The field of a part that holds the media, and its value.
type Place = Option<(&'static str, String)>;

fn image_place(source: &Object<'_>) -> Result<Place, String> {
    Ok(match &*source.string("type").unwrap_or_default() {
        "base64" => Some(("image_url", data_url(source)?)),
        "url" => Some(("image_url", required_field(source, "url", '"')?.to_owned())),
        "file" => Some(("file_id", required_field(source, "file_id", '"')?.to_owned())),
        _ => None,
    })
}

fn file_place(source: &Object<'_>) -> Result<Place, String> {
    Ok(match &*source.string("type").unwrap_or_default() {
        "base64" => Some(("file_data", data_url(source)?)),
        "text" => Some(("file_data", text_url(source)?)),
        "url" => Some(("file_url", required_field(source, "url", '"')?.to_owned())),
        "file" => Some(("file_id", required_field(source, "file_id", '"')?.to_owned())),
        _ => None,
    })
}

fn data_url(source: &Object<'_>) -> Result<String, String> {
    required_field(source, "media_type", '"')?;
    let media_type = source.string("media_type").unwrap_or_default();
    required_field(source, "data", '"')?;
    let content = source.string("data").unwrap_or_default();
    Ok(quoted_url(&media_type, &content))
}

fn text_url(source: &Object<'_>) -> Result<String, String> {
    let text = unquote(required_field(source, "data", '"')?).ok_or("data: no text")?;
    Ok(quoted_url("text/plain", &base64::encode(text.as_bytes())))
}

fn quoted_url(media_type: &str, content: &str) -> String {
    let mut url = String::with_capacity(content.len() + 48);
    push_quoted(&mut url, &format!("data:{media_type};base64,{content}"));
    url
}
