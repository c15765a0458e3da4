//! Fields of a multipart form.
//!
//! Source: RFC 7578, and RFC 2046, section 5.1, for the limits of parts.

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, header};
use multer::Multipart;

/// The boundary of a multipart body with these headers; `None` for any other body.
pub(super) fn boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    multer::parse_boundary(content_type).ok().filter(|boundary| !boundary.is_empty())
}

/// The text of the field `name`, if the pieces of the body contain the whole field. Reads no more
/// pieces than necessary.
pub(super) async fn field<E>(
    pieces: impl Stream<Item = Result<Bytes, E>> + Send,
    boundary: &str,
    name: &str,
) -> Option<String>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let mut form = Multipart::new(pieces, boundary);
    while let Some(field) = form.next_field().await.ok()? {
        if field_name(field.headers()).as_deref() == Some(name) {
            return String::from_utf8(field.bytes().await.ok()?.into()).ok();
        }
    }
    None
}

/// The name of the field with these headers. `Field::name` is not used, because it also finds a
/// `name` inside the quoted name of a file.
fn field_name(headers: &HeaderMap) -> Option<String> {
    let disposition = headers.get(header::CONTENT_DISPOSITION)?;
    let (_, mut parameters) = str::from_utf8(disposition.as_bytes()).ok()?.split_once(';')?;
    loop {
        let (name, rest) = parameters.split_once('=')?;
        let (value, rest) = split_value(rest.trim_start());
        if name.trim().eq_ignore_ascii_case("name") {
            return Some(value);
        }
        parameters = rest.trim_start().strip_prefix(';')?;
    }
}

/// Splits the value of a parameter, quoted or not, from the text after it.
fn split_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            _ => value.push(character),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http::HeaderValue;
    use memchr::memmem;

    use super::*;

    const BODY: &[u8] =
        b"--x1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\
        Content-Type: audio/wav\r\n\r\n\xff\x00name=\"model\"\r\n\r\nno\r\n--x1\r\n\
        content-disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n--x1--\r\n";

    async fn text(body: &'static [u8], boundary: &str, name: &str) -> Option<String> {
        let pieces = body.chunks(7).map(|piece| Ok::<_, Infallible>(Bytes::from_static(piece)));
        field(stream::iter(pieces), boundary, name).await
    }

    #[tokio::test]
    async fn field_after_a_file_is_found() {
        assert_eq!(text(BODY, "x1", "model").await.as_deref(), Some("whisper"));
        assert_eq!(text(BODY, "x1", "language").await, None);
        assert_eq!(text(BODY, "other", "model").await, None);
    }

    #[tokio::test]
    async fn incomplete_field_is_none() {
        let whole = memmem::rfind(BODY, b"--x1").unwrap() + 4;
        assert_eq!(text(&BODY[..whole], "x1", "model").await.as_deref(), Some("whisper"));
        assert_eq!(text(&BODY[..whole - 1], "x1", "model").await, None);
    }

    #[test]
    fn only_the_name_parameter_names_a_field() {
        let name = |text| {
            let value = HeaderValue::from_static(text);
            field_name(&HeaderMap::from_iter([(header::CONTENT_DISPOSITION, value)]))
        };
        for text in [
            r#"form-data; name="file"; filename="a; name=model; b.wav""#,
            r#"form-data; filename="a; name=model; b.wav"; name="file""#,
            r#"form-data; filename="a\"; name=model; b.wav"; name="file""#,
            r#"form-data; filename=""; name = file ; x=y"#,
            r#"Form-Data; filename="name=model";Name=file"#,
        ] {
            assert_eq!(name(text).as_deref(), Some("file"), "{text}");
        }
        assert_eq!(name("form-data"), None);
    }

    #[test]
    fn only_a_form_has_a_boundary() {
        let of = |text| {
            let value = HeaderValue::from_static(text);
            boundary(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)]))
        };
        assert_eq!(of("multipart/form-data; boundary=x1").as_deref(), Some("x1"));
        assert_eq!(
            of("Multipart/Form-Data; charset=utf-8; Boundary=\"x 1\"").as_deref(),
            Some("x 1")
        );
        assert_eq!(of("application/json; boundary=x1"), None);
        assert_eq!(of("multipart/form-data"), None);
    }
}
