//! Ids in the paths of a server's API.

use std::fmt;

/// The most characters of an id. Providers' have 64 at most; those of servers in front of them, which hold
/// more than one id, some hundreds.
const LONGEST: usize = 1024;

/// Characters that a server which decodes a path may cut it at, and that no id has.
const DELIMITERS: &[u8] = br"/\%;?#";

/// An id as one segment of a path.
///
/// Ids are the callers' text. Whatever a server or a proxy in front of it decodes, resolves or joins, what is
/// written here stays one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a>(&'a str);

impl<'a> Segment<'a> {
    /// The segment of this id; `None` where the text can be nobody's id.
    pub fn of(id: &'a str) -> Option<Self> {
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

/// A text as it stands in a path or a query: all is escaped but the unreserved characters of RFC 3986,
/// section 2.3.
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
    fn an_id_stands_as_it_is_or_escaped() {
        let written = |id| Segment::of(id).map(|segment| segment.to_string());
        for id in ["conv_68f0", "resp-1~a.b", "0", "..."] {
            assert_eq!(written(id).as_deref(), Some(id));
        }
        assert_eq!(written("resp_YQ==").as_deref(), Some("resp_YQ%3D%3D"));
        assert_eq!(written("a:b&c+d").as_deref(), Some("a%3Ab%26c%2Bd"));
        assert_eq!(escaped("of its own/?é").to_string(), "of%20its%20own%2F%3F%C3%A9");
    }

    #[test]
    fn what_could_be_read_as_more_than_a_segment_is_no_id() {
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
            assert_eq!(Segment::of(text), None, "{text:?}");
        }
        assert_eq!(Segment::of(&"a".repeat(1025)), None);
        assert!(Segment::of(&"a".repeat(1024)).is_some());
    }
}
