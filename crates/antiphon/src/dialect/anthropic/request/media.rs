//! Converts images and files into `image` and `document` blocks.

use std::borrow::Cow;

use super::block::{Block, is_blank};
use super::content::Part;
use super::{AnthropicOmissions, unsupported};
use crate::dialect::base64;
use crate::dialect::request::Unsupported;
use crate::json::{push_quoted, quote};

const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The block of an `input_image`: a base64 source for a data URL, otherwise a URL source. Anthropic
/// cannot read a file by the id of another server.
pub(super) fn image(
    part: &Part<'_>,
    omissions: &mut AnthropicOmissions,
) -> Result<Block, Unsupported> {
    let Some(url) = part.fields.string("image_url") else {
        return Err(unsupported(
            part.place(),
            "the Anthropic Messages API needs the image itself or its URL",
        ));
    };
    if part.fields.string("detail").is_some_and(|detail| detail != "auto") {
        let why = "the Anthropic Messages API has no levels of image detail";
        omissions.leave_out(part.at("detail"), why);
    }
    let Some(data) = DataUrl::parse(&url) else {
        return Ok(block("image", &url_source(&url), None));
    };
    if !data.is_base64 || !IMAGES.contains(&data.media_type) {
        let why = format!(
            "the Anthropic Messages API takes base64 images of the types {}, not '{}'",
            IMAGES.join(", "),
            data.media_type
        );
        return Err(unsupported(part.place(), &why));
    }
    Ok(block("image", &base64_source(data.media_type, data.content), None))
}

/// The block of an `input_file`, with its `filename` as the title: a PDF in base64 or by URL, or a
/// text. The block of any text type has the type `text/plain`.
pub(super) fn document(part: &Part<'_>) -> Result<Block, Unsupported> {
    let title = part.fields.get("filename").filter(|raw| raw.starts_with('"') && !is_blank(raw));
    if let Some(url) = part.fields.string("file_url") {
        return Ok(block("document", &url_source(&url), title));
    }
    let Some(file) = part.fields.string("file_data") else {
        let why = "the Anthropic Messages API needs the file itself or its URL, not a file id";
        return Err(unsupported(part.place(), why));
    };
    let data = DataUrl::parse(&file).unwrap_or_else(|| {
        let media_type = title.map_or("", |title| media_type_of(title.trim_matches('"')));
        DataUrl { media_type, is_base64: true, content: &file }
    });
    let source = match data.media_type {
        "application/pdf" if data.is_base64 => base64_source(data.media_type, data.content),
        text if text.starts_with("text/") => text_source(&data, part)?,
        other => {
            let why =
                format!("the Anthropic Messages API takes PDF and text documents, not '{other}'");
            return Err(unsupported(part.place(), &why));
        }
    };
    Ok(block("document", &source, title))
}

/// The media type of bare base64 data, by the extension of the file's name.
fn media_type_of(filename: &str) -> &'static str {
    let extension = filename.rsplit_once('.').map_or("", |(_, extension)| extension);
    match &*extension.to_ascii_lowercase() {
        "pdf" => "application/pdf",
        "txt" | "md" | "csv" => "text/plain",
        _ => "",
    }
}

/// `data:image/png;base64,iVBOR…`
struct DataUrl<'a> {
    media_type: &'a str,
    is_base64: bool,
    content: &'a str,
}

impl<'a> DataUrl<'a> {
    /// `None` if the URL has another scheme. A missing media type means `text/plain`.
    fn parse(url: &'a str) -> Option<Self> {
        let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"))?;
        let (head, content) = url[scheme.len()..].split_once(',')?;
        let media_type = head.split(';').next().filter(|media_type| !media_type.is_empty());
        let is_base64 = head.split(';').skip(1).any(|parameter| parameter == "base64");
        Some(Self { media_type: media_type.unwrap_or("text/plain"), is_base64, content })
    }

    /// The decoded text; `None` if the content is not valid UTF-8 text.
    fn text(&self) -> Option<String> {
        let bytes = match self.is_base64 {
            true => Cow::Owned(base64::decode(self.content)?),
            false => decode_percent(self.content),
        };
        String::from_utf8(bytes.into_owned()).ok()
    }
}

fn decode_percent(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let code = (*byte == b'%').then(|| tail.get(..2).and_then(hex)).flatten();
        decoded.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(decoded)
}

fn hex(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    text.bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u8::from_str_radix(text, 16).ok())?
}

fn url_source(url: &str) -> String {
    format!(r#"{{"type":"url","url":{}}}"#, quote(url))
}

fn base64_source(media_type: &str, content: &str) -> String {
    let mut source = String::with_capacity(content.len() + 64);
    source.push_str(r#"{"type":"base64","media_type":"#);
    push_quoted(&mut source, media_type);
    source.push_str(r#","data":"#);
    push_quoted(&mut source, content);
    source.push('}');
    source
}

fn text_source(data: &DataUrl<'_>, part: &Part<'_>) -> Result<String, Unsupported> {
    let why = "a text document in the Anthropic Messages API must be UTF-8 text";
    let text = data.text().ok_or_else(|| unsupported(part.place(), why))?;
    Ok(format!(r#"{{"type":"text","media_type":"text/plain","data":{}}}"#, quote(&text)))
}

fn block(kind: &str, source: &str, title: Option<&str>) -> Block {
    let mut json = String::with_capacity(source.len() + 64);
    json.push_str(r#"{"type":"#);
    push_quoted(&mut json, kind);
    json.push_str(r#","source":"#);
    json.push_str(source);
    if let Some(title) = title {
        json.push_str(r#","title":"#);
        json.push_str(title);
    }
    json.push('}');
    Block::Other(json)
}
