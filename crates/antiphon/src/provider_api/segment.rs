//! Ids as segments of URL paths.

use std::fmt;

/// The length limit of an id. Providers' ids have at most 64 characters. Those of proxies, which
/// combine several ids, may have some hundreds.
const LONGEST: usize = 1024;

/// Characters at which a server may split a decoded path. No id contains them.
const DELIMITERS: &[u8] = br"/\%;?#";

/// An id as one segment of a path.
///
/// Clients choose the text of ids. A server or a proxy may decode, resolve or join paths; the text
/// written here stays one segment in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a>(&'a str);

impl<'a> Segment<'a> {
    /// The segment for this id; `None` if the text cannot be an id.
    pub fn parse(id: &'a str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !DELIMITERS.contains(&byte);
        let is_one = !matches!(id, "" | "." | "..") && id.len() <= LONGEST;
        (is_one && id.bytes().all(is_plain)).then_some(Self(id))
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0).fmt(f)
    }
}

/// Escapes a text for a path or a query: all but the unreserved characters of RFC 3986, section
/// 2.3.
pub(super) fn escaped(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// See [`escaped`].
pub(super) struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'-' | b'_' | b'.' | b'~' => write!(f, "{}", char::from(byte))?,
                _ if byte.is_ascii_alphanumeric() => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_escaped_if_necessary() {
        let written = |id| Segment::parse(id).map(|segment| segment.to_string());
        for id in ["conv_68f0", "resp-1~a.b", "0", "..."] {
            assert_eq!(written(id).as_deref(), Some(id));
        }
        assert_eq!(written("resp_YQ==").as_deref(), Some("resp_YQ%3D%3D"));
        assert_eq!(written("a:b&c+d").as_deref(), Some("a%3Ab%26c%2Bd"));
        assert_eq!(escaped("of its own/?é").to_string(), "of%20its%20own%2F%3F%C3%A9");
    }

    #[test]
    fn text_of_several_segments_is_not_an_id() {
        let texts = [
            "",
            ".",
            "..",
            "../x?y",
            "a/b",
            r"a\b",
            "a?b",
            "a#b",
            "a;b",
            "%2e%2e",
            "a b",
            "a\nb",
            "a\u{0}",
            "é",
            "a\u{ff0f}b",
        ];
        for text in texts {
            assert_eq!(Segment::parse(text), None, "{text:?}");
        }
        assert_eq!(Segment::parse(&"a".repeat(1025)), None);
        assert!(Segment::parse(&"a".repeat(1024)).is_some());
    }
}
