//! Raw fields of events, and the JSON object built from them.

use bytes::Bytes;

use crate::json::{Object, push_quoted};

/// A field of an event: its name and its raw value.
pub(super) type Field<'a> = (&'a str, &'a str);

/// Up to seven fields, without heap allocation: an event is forwarded for every delta.
#[derive(Clone, Copy, Default)]
pub(super) struct Fixes<'a> {
    fields: [Field<'a>; 7],
    count: usize,
}

impl<'a> Fixes<'a> {
    pub(super) fn add(&mut self, field: Field<'a>) {
        self.fields[self.count] = field;
        self.count += 1;
    }

    /// Whether there is a field with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.as_slice().iter().any(|(key, _)| *key == name)
    }

    /// Whether the event already has all these fields with these values.
    pub(super) fn are_set_in(&self, event: &Object<'_>) -> bool {
        self.as_slice().iter().all(|(key, raw)| event.get(key) == Some(raw))
    }

    /// The event with these fields set.
    pub(super) fn apply_to(&self, event: &Object<'_>) -> Bytes {
        let fixes = self.as_slice();
        let fixed = |(key, raw)| {
            let fix = fixes.iter().find(|(name, _)| *name == key);
            fix.copied().unwrap_or((key, raw))
        };
        let is_new = |(key, _): &Field<'_>| event.get(key).is_none();
        object_of(|| event.iter().map(fixed).chain(fixes.iter().copied().filter(is_new)))
    }

    fn as_slice(&self) -> &[Field<'a>] {
        &self.fields[..self.count]
    }
}

impl<'a, const N: usize> From<[Field<'a>; N]> for Fixes<'a> {
    fn from(fields: [Field<'a>; N]) -> Self {
        let mut fixes = Self::default();
        for field in fields {
            fixes.add(field);
        }
        fixes
    }
}

/// The JSON object of these fields, in one line. The buffer is allocated once, at its final size.
pub(super) fn object_of<'f, I: Iterator<Item = Field<'f>>>(fields: impl Fn() -> I) -> Bytes {
    // Each field adds two quotes, a colon and a comma; there is one more brace than comma.
    let length: usize = fields().map(|(key, raw)| key.len() + raw.len() + 4).sum();
    let mut json = String::with_capacity(length + 1);
    json.push('{');
    for (key, raw) in fields() {
        push_key(&mut json, key);
        json.push_str(raw);
    }
    json.push('}');
    in_one_line(json)
}

/// Appends a key to an unfinished object, with the comma before it and the colon after it.
pub(super) fn push_key(json: &mut String, key: &str) {
    if !json.ends_with('{') {
        json.push(',');
    }
    push_quoted(json, key);
    json.push(':');
}

/// A number as JSON, without heap allocation.
pub(super) struct Digits {
    digits: [u8; 20],
    start: usize,
}

impl Digits {
    pub(super) fn new(mut number: u64) -> Self {
        // No number of 64 bits has more than 20 digits.
        let mut digits = [b'0'; 20];
        let mut start = 19;
        while number > 9 {
            digits[start] = digit(number % 10);
            number /= 10;
            start -= 1;
        }
        digits[start] = digit(number);
        Self { digits, start }
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.digits[self.start..]).expect("digits are text")
    }
}

fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number).expect("it is less than ten")
}

pub(super) fn is_one_line(data: &[u8]) -> bool {
    memchr::memchr2(b'\n', b'\r', data).is_none()
}

/// Replaces the line breaks of a JSON text by spaces. They stand only between tokens, and they
/// would end the data line of an event stream.
pub(super) fn in_one_line(json: String) -> Bytes {
    if is_one_line(json.as_bytes()) {
        return json.into();
    }
    json.replace(['\n', '\r'], " ").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_equal_decimal_form() {
        for number in [0, 7, 9, 10, 99, 100, 1234, u64::MAX] {
            assert_eq!(Digits::new(number).as_str(), number.to_string());
        }
    }

    #[test]
    fn fixes_replace_fields_in_place() {
        let event = br#"{"a":1e2,"sequence_number":7,"\u0062 c":[ ]}"#;
        let event = Object::parse(event).unwrap();
        let mut fixes = Fixes::from([("sequence_number", "8"), ("item_id", "\"x\"")]);
        let fixed = r#"{"a":1e2,"sequence_number":8,"b c":[ ],"item_id":"x"}"#;
        assert_eq!(fixes.apply_to(&event), fixed);
        assert!(!fixes.are_set_in(&event));
        fixes = Fixes::from([("a", "1e2")]);
        assert!(fixes.are_set_in(&event));
    }

    #[test]
    fn line_breaks_become_spaces() {
        assert_eq!(in_one_line("[1,\r\n2]".into()), "[1,  2]");
    }
}
