//! Images and documents as parts of a message.

use super::field::{Fields, invalid};
use crate::dialect::InvalidRequest;
use crate::json::quote;

/// The part for `inlineData`.
pub(super) fn inline_part(inline: &Fields<'_>) -> Result<String, InvalidRequest> {
    let media_type = inline.required("mimeType")?.text()?;
    // The SDK for Python encodes bytes with the alphabet for URLs.
    let content = inline.required("data")?.text()?.replace('-', "+").replace('_', "/");
    let url = quote(&format!("data:{media_type};base64,{content}"));
    let name = inline.text_at("displayName")?;
    Ok(match media_type.starts_with("image/") {
        true => format!(r#"{{"type":"input_image","image_url":{url}}}"#),
        false => file_part("file_data", &url, name.as_deref()),
    })
}

/// The part for `fileData`, whose URI must be one that every provider can read.
pub(super) fn file_uri_part(file: &Fields<'_>) -> Result<String, InvalidRequest> {
    let uri = file.required("fileUri")?;
    let url = uri.text()?;
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(invalid(uri.path(), "the upstream reads files only from HTTP URLs"));
    }
    let media_type = file.text_at("mimeType")?.unwrap_or_default();
    let (url, name) = (quote(&url), file.text_at("displayName")?);
    Ok(match media_type.starts_with("image/") {
        true => format!(r#"{{"type":"input_image","image_url":{url}}}"#),
        false => file_part("file_url", &url, name.as_deref()),
    })
}

fn file_part(field: &str, raw: &str, name: Option<&str>) -> String {
    let name = name.map(|name| format!(r#","filename":{}"#, quote(name))).unwrap_or_default();
    format!(r#"{{"type":"input_file","{field}":{raw}{name}}}"#)
}
