//! Splits JSON objects and arrays without a general parser.

use std::borrow::Cow;

use super::is_plain;

type Fields<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The maximum depth of nested values. Deeper ones are left to a general parser: this one recurses.
const MAX_DEPTH: u8 = 32;

/// The fields of the object `text`, with raw values.
///
/// `None` if `text` is not an object, is invalid, is nested too deeply, or has an escape in a key:
/// a general parser decides.
pub(super) fn fields(text: &str) -> Option<Fields<'_>> {
    // A chunk of a Chat Completions stream has ten fields.
    let mut fields = Vec::with_capacity(12);
    Scanner::scan_all(text, [b'{', b'}'], |scanner| {
        let name = scanner.key()?;
        scanner.skip_colon()?;
        fields.push((Cow::Borrowed(name), Cow::Borrowed(scanner.value()?)));
        Some(())
    })?;
    Some(fields)
}

/// The raw elements of the array `text`. `None` if `text` is not an array, is invalid or is nested
/// too deeply.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    let mut elements = Vec::new();
    Scanner::scan_all(text, [b'[', b']'], |scanner| {
        elements.push(scanner.value()?);
        Some(())
    })?;
    Some(elements)
}

struct Scanner<'a> {
    text: &'a str,
    /// The position of the next byte.
    at: usize,
    depth: u8,
}

impl<'a> Scanner<'a> {
    /// Scans a text that is one object or array. `scan` scans a member of it.
    fn scan_all(
        text: &'a str,
        brackets: [u8; 2],
        scan: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let mut scanner = Self { text, at: 0, depth: 0 };
        scanner.skip_white_space();
        scanner.members(brackets, scan)?;
        scanner.skip_white_space();
        (scanner.at == text.len()).then_some(())
    }

    /// Scans an object or an array, with its brackets. `scan` scans a member of it.
    fn members(
        &mut self,
        [opening, closing]: [u8; 2],
        mut scan: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.take(opening)?;
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
        self.skip_white_space();
        if self.take(closing).is_none() {
            loop {
                scan(self)?;
                self.skip_white_space();
                if self.take(closing).is_some() {
                    break;
                }
                self.take(b',')?;
                self.skip_white_space();
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// A key without escapes.
    fn key(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let start = self.at;
        self.at = special_byte(self.bytes(), start)?;
        let name = &self.text[start..self.at];
        self.take(b'"')?;
        Some(name)
    }

    fn skip_colon(&mut self) -> Option<()> {
        self.skip_white_space();
        self.take(b':')?;
        self.skip_white_space();
        Some(())
    }

    fn value(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.skip_value()?;
        Some(&self.text[start..self.at])
    }

    fn skip_value(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => self.members([b'{', b'}'], |scanner| {
                scanner.skip_string()?;
                scanner.skip_colon()?;
                scanner.skip_value()
            }),
            b'[' => self.members([b'[', b']'], Self::skip_value),
            b'n' => self.skip_word("null"),
            b't' => self.skip_word("true"),
            b'f' => self.skip_word("false"),
            _ => self.skip_number(),
        }
    }

    fn skip_number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        if self.take(b'0').is_none() {
            self.skip_digits()?;
        }
        if self.take(b'.').is_some() {
            self.skip_digits()?;
        }
        if self.take(b'e').or_else(|| self.take(b'E')).is_some() {
            let _ = self.take(b'+').or_else(|| self.take(b'-'));
            self.skip_digits()?;
        }
        Some(())
    }

    /// Skips one digit or more.
    fn skip_digits(&mut self) -> Option<()> {
        let count = self.bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn skip_string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at = special_byte(self.bytes(), self.at)?;
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escape()?,
                _ => return None,
            }
        }
    }

    fn skip_escape(&mut self) -> Option<()> {
        let length = match self.bytes().get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = self.bytes().get(self.at + 2..self.at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
            }
            _ => return None,
        };
        self.at += length;
        Some(())
    }

    fn skip_word(&mut self, word: &str) -> Option<()> {
        self.at += self.rest().starts_with(word).then_some(word.len())?;
        Some(())
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}

/// The position, from `start`, of the first byte that does not stand for itself in a JSON string: a
/// quote, a backslash or a control character. Compares eight bytes at a time.
pub(super) fn special_byte(bytes: &[u8], start: usize) -> Option<usize> {
    let (words, rest) = bytes.get(start..)?.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(start + index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|byte| !is_plain(*byte))?;
    Some(start + words.len() * 8 + found)
}

/// A bit in the first special byte of the word, and none before it.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST_BITS: u64 = ONES << 7;
    // The highest bit of each byte that is less than `limit`, and perhaps of bytes after it.
    let less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    (less(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHEST_BITS
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample;

    use super::*;
    use crate::json::{Object, quote};

    /// The fields that Serde finds.
    fn parsed(text: &str) -> Option<Fields<'_>> {
        let object: Object<'_> = serde_json::from_str(text).ok()?;
        Some(object.fields)
    }

    #[test]
    fn typical_event_is_scanned() {
        let text = r#" {"type":"response.output_text.delta", "sequence_number":12,
            "delta":"a \"word\"\u00e9 é\n",
            "logprobs":[],"n":-1.5e3,"o":{"a":[1]},"z":0, "b":true}"#;
        assert_eq!(fields(text).unwrap().len(), 8);
        assert_eq!(fields(text), parsed(text));
        assert_eq!(fields("{ }"), Some(Vec::new()));
    }

    #[test]
    fn invalid_texts_are_left_to_the_parser() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":01}"#,
            r#"{"a":1x}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u12g4"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":nul}"#,
            r#"{"a":nulll}"#,
            r#"{"a":[}"#,
            r#"{"a":1} {}"#,
            r#"{"a":1"b":2}"#,
            r#"{"a":"b}"#,
            r"{a:1}",
            r#"{"a\n":1}"#,
            r#"{"a":-}"#,
            r#"{"a":-01}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":1e+}"#,
            r#"{"a":[1,]}"#,
            r#"{"a":[1 2]}"#,
            r#"{"a":{"b"}}"#,
            r#"{"a":{"b":1]}"#,
            r#"{"a":{b:1}}"#,
        ] {
            assert_eq!(fields(text), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_left_to_the_parser() {
        let nested = |depth| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let (deepest, deeper) =
            (nested(usize::from(MAX_DEPTH) - 1), nested(usize::from(MAX_DEPTH)));
        assert_eq!(fields(&deepest), parsed(&deepest));
        assert_eq!(fields(&deeper), None);
        assert_eq!(Object::parse_str(&deeper).unwrap().to_text(), deeper);
    }

    #[test]
    fn elements_are_raw() {
        let array = r#" [1.50, "a,]", [ 2 ],{"b\n":[]} , null] "#;
        assert_eq!(
            elements(array).unwrap(),
            ["1.50", r#""a,]""#, "[ 2 ]", r#"{"b\n":[]}"#, "null"]
        );
        assert_eq!(elements("[]"), Some(Vec::new()));
        for text in ["", "{}", "[", "[1,]", "[1]]", "[,1]"] {
            assert_eq!(elements(text), None, "{text}");
        }
    }

    #[test]
    fn special_byte_is_found_at_every_position() {
        for length in 0..40 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut bytes = std::vec![b'\xc3'; length];
                    bytes[at] = byte;
                    let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
                    let start = at / 2;
                    assert_eq!(special_byte(&bytes, start), is_special.then_some(at), "{byte}");
                }
            }
        }
    }

    proptest! {
        /// A text of tokens: many are objects, and more are almost objects.
        #[test]
        fn scanner_finds_the_fields_of_the_parser(tokens in vec(token(), 0..24)) {
            let text = tokens.concat();
            if let Some(found) = fields(&text) {
                prop_assert_eq!(Some(found), parsed(&text), "{}", text);
            }
        }

        /// The same for objects with at most one error, of one byte.
        #[test]
        fn scanner_accepts_what_the_parser_accepts(
            names in vec("[a-z_]{0,9}", 0..6),
            values in vec(value(), 6),
            change in proptest::option::of((any::<sample::Index>(), any::<char>())),
        ) {
            let pairs = names.iter().zip(&values).map(|(name, raw)| format!(r#""{name}" : {raw}"#));
            let mut text = format!("{{{}}}", pairs.collect::<Vec<_>>().join(","));
            if let Some((at, other)) = change {
                let at = at.index(text.len());
                if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                    text.replace_range(at..=at, other.encode_utf8(&mut [0; 4]));
                }
            } else {
                prop_assert!(fields(&text).is_some(), "{}", text);
            }
            if let Some(found) = fields(&text) {
                prop_assert_eq!(Some(found), parsed(&text), "{}", text);
            }
        }
    }

    fn token() -> impl Strategy<Value = String> {
        const MARKS: &[&str] =
            &["{", "}", "{\"", "\":", ",\"", ":", ",", "\"", "[", "]", "\\", "u00e9", " ", "\n"];
        prop_oneof![sample::select(MARKS).prop_map(str::to_owned), value()]
    }

    fn value() -> impl Strategy<Value = String> {
        const FIXED: &[&str] =
            &["0", "-0", "12", "-1.5", "1e3", "2E-07", "null", "true", "false", "[]", "[ ]", "{}"];
        prop_oneof![
            sample::select(FIXED).prop_map(str::to_owned),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<String>().prop_map(|text| quote(&text)),
            r#""(\\[nrt"/\\bf]|\\u[0-9a-f]{4}|[a-zé ]){0,12}""#,
            any::<String>().prop_map(|text| format!("{{{}:[1, {{}},0.5]}}", quote(&text))),
        ]
    }
}
