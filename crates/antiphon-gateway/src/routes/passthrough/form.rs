//! Fields of a multipart form.
//!
//! Source: RFC 7578, and RFC 2046, section 5.1, for the limits of parts.

use http::{HeaderMap, header};
use memchr::memmem;

/// The boundary of a multipart body with these headers; `None` for any other body.
pub(super) fn boundary(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let mut pieces = content_type.split(';').map(str::trim);
    let is_form = pieces.next()?.eq_ignore_ascii_case("multipart/form-data");
    let boundary = pieces.find_map(|piece| {
        let (name, value) = piece.split_once('=')?;
        name.eq_ignore_ascii_case("boundary").then(|| value.trim_matches('"'))
    });
    boundary.filter(|boundary| is_form && !boundary.is_empty()).map(str::to_owned)
}

/// The text of the field `name`, if the given beginning of the body contains the whole field.
pub(super) fn field<'a>(body: &'a [u8], boundary: &str, name: &str) -> Option<&'a str> {
    let divider = format!("--{boundary}");
    let ends: Vec<usize> = memmem::find_iter(body, divider.as_bytes()).collect();
    let parts = ends.windows(2).map(|ends| &body[ends[0] + divider.len()..ends[1]]);
    parts.filter_map(part).find(|(head, _)| names(head, name)).map(|(_, text)| text)
}

/// The head and the text of a part; `None` if the part is not text.
fn part(part: &[u8]) -> Option<(&str, &str)> {
    let end = memmem::find(part, b"\r\n\r\n")?;
    let text = part[end + 4..].strip_suffix(b"\r\n")?;
    Some((str::from_utf8(&part[..end]).ok()?, str::from_utf8(text).ok()?))
}

fn names(head: &str, field: &str) -> bool {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut dispositions =
        lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"));
    dispositions.any(|(_, value)| {
        let parameters = value.split(';').filter_map(|piece| piece.trim().split_once('='));
        let mut parameters = parameters.map(|(name, value)| (name.trim(), value.trim_matches('"')));
        parameters.any(|(name, value)| name.eq_ignore_ascii_case("name") && value == field)
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const BODY: &[u8] =
        b"--x1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\
        Content-Type: audio/wav\r\n\r\n\xff\x00name=\"model\"\r\n\r\nno\r\n--x1\r\n\
        content-disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n--x1--\r\n";

    #[test]
    fn a_field_is_found_behind_a_file() {
        assert_eq!(field(BODY, "x1", "model"), Some("whisper"));
        assert_eq!(field(BODY, "x1", "language"), None);
        assert_eq!(field(BODY, "other", "model"), None);
    }

    #[test]
    fn a_field_that_is_not_whole_is_none() {
        let whole = memmem::rfind(BODY, b"--x1").unwrap() + 4;
        assert_eq!(field(&BODY[..whole], "x1", "model"), Some("whisper"));
        assert_eq!(field(&BODY[..whole - 1], "x1", "model"), None);
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
