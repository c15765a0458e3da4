//! Detects the kind of bodies without a content type.

/// The kind of a body, detected from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// An event stream: it starts with a comment or a field of an event.
    Events,
    /// A JSON object.
    Json,
    /// Neither.
    Unknown,
}

const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl BodyKind {
    /// The kind of a body with these first bytes. `None` if more bytes are needed.
    pub(super) fn from_start(start: &[u8], is_all: bool) -> Option<Self> {
        let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start).trim_ascii_start();
        if start.first() == Some(&b'{') {
            return Some(Self::Json);
        }
        if FIELDS.iter().any(|field| start.starts_with(field)) {
            return Some(Self::Events);
        }
        let may_follow = FIELDS.iter().any(|field| field.starts_with(start));
        (is_all || !may_follow).then_some(Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_determine_the_kind() {
        let cases: [(&[u8], Option<BodyKind>); 9] = [
            (b"", None),
            (b" \r\n", None),
            (b"dat", None),
            (b"\n data: {", Some(BodyKind::Events)),
            (b": ping", Some(BodyKind::Events)),
            (b"\xef\xbb\xbfevent:", Some(BodyKind::Events)),
            (b" {", Some(BodyKind::Json)),
            (b"<html>", Some(BodyKind::Unknown)),
            (b"date", Some(BodyKind::Unknown)),
        ];
        for (start, expected) in cases {
            assert_eq!(BodyKind::from_start(start, false), expected, "{start:?}");
        }
        assert_eq!(BodyKind::from_start(b"dat", true), Some(BodyKind::Unknown));
    }
}
