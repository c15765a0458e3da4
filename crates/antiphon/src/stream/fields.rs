//! Fields of events, raw, and the JSON that they make up.

use bytes::Bytes;

use crate::json::{Object, push_quoted};

/// A field of an event: its name and its raw value.
pub(super) type Field<'a> = (&'a str, &'a str);

/// A handful of fields. They take no memory of their own: an event is passed on for every word.
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

    /// Whether there is one of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.as_slice().iter().any(|(key, _)| *key == name)
    }

    /// Whether an event carries them all as they are.
    pub(super) fn stand_in(&self, event: &Object<'_>) -> bool {
        self.as_slice().iter().all(|(key, raw)| event.get(key) == Some(raw))
    }

    /// The event with these fields in the place of its own.
    pub(super) fn applied_to(&self, event: &Object<'_>) -> Bytes {
        let fixes = self.as_slice();
        let mended = |(key, raw)| {
            let fix = fixes.iter().find(|(name, _)| *name == key);
            fix.copied().unwrap_or((key, raw))
        };
        let is_new = |(key, _): &Field<'_>| event.get(key).is_none();
        object_of(|| event.iter().map(mended).chain(fixes.iter().copied().filter(is_new)))
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

/// The JSON object of these fields, in one line. Its length is known before it is written.
pub(super) fn object_of<'f, I: Iterator<Item = Field<'f>>>(fields: impl Fn() -> I) -> Bytes {
    // With a field come two quotes, a colon and a comma; there is one more brace than comma.
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

/// Appends a key to an object that is being written, with what stands before and behind it.
pub(super) fn push_key(json: &mut String, key: &str) {
    if !json.ends_with('{') {
        json.push(',');
    }
    push_quoted(json, key);
    json.push(':');
}

/// A number as JSON, without a place of its own in memory.
pub(super) struct Digits {
    digits: [u8; 20],
    start: usize,
}

impl Digits {
    pub(super) fn of(mut number: u64) -> Self {
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

/// A value may hold line ends of its own; in JSON they stand only between tokens, where they mean
/// nothing, and an event stream would be cut by them.
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
    fn numbers_are_written_as_they_are() {
        for number in [0, 7, 9, 10, 99, 100, 1234, u64::MAX] {
            assert_eq!(Digits::of(number).as_str(), number.to_string());
        }
    }

    #[test]
    fn an_event_is_mended_in_its_place() {
        let event = br#"{"a":1e2,"sequence_number":7,"\u0062 c":[ ]}"#;
        let event = Object::parse(event).unwrap();
        let mut fixes = Fixes::from([("sequence_number", "8"), ("item_id", "\"x\"")]);
        let mended = r#"{"a":1e2,"sequence_number":8,"b c":[ ],"item_id":"x"}"#;
        assert_eq!(fixes.applied_to(&event), mended);
        assert!(!fixes.stand_in(&event));
        fixes = Fixes::from([("a", "1e2")]);
        assert!(fixes.stand_in(&event));
    }

    #[test]
    fn line_ends_between_tokens_become_spaces() {
        assert_eq!(in_one_line("[1,\r\n2]".into()), "[1,  2]");
    }
}
