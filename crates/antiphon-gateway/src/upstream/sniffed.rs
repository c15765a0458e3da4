//! Detects the kind of bodies without a content type.

/// The kind of a body, detected from its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sniffed {
    /// An event stream: it starts with a comment or a field of an event.
    Events,
    /// A JSON object.
    Json,
    /// Neither.
    Unknown,
}

const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Sniffed {
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
    fn the_first_bytes_decide() {
        let cases: [(&[u8], Option<Sniffed>); 9] = [
            (b"", None),
            (b" \r\n", None),
            (b"dat", None),
            (b"\n data: {", Some(Sniffed::Events)),
            (b": ping", Some(Sniffed::Events)),
            (b"\xef\xbb\xbfevent:", Some(Sniffed::Events)),
            (b" {", Some(Sniffed::Json)),
            (b"<html>", Some(Sniffed::Unknown)),
            (b"date", Some(Sniffed::Unknown)),
        ];
        for (start, expected) in cases {
            assert_eq!(Sniffed::from_start(start, false), expected, "{start:?}");
        }
        assert_eq!(Sniffed::from_start(b"dat", true), Some(Sniffed::Unknown));
    }
}
