//! A JSON object as its fields in order, each value as the bytes that came.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Key, push_quoted, quote};

/// A JSON object that can be changed field by field. The order and every value that is not changed
/// stay as they came: unknown fields, odd numbers, escapes, the space within them. Keys are written
/// without needless escapes, and fields without space between them.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Object<'a> {
    /// Reads an object. One pass; nothing but the list of fields is allocated.
    pub fn parse(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        match str::from_utf8(text) {
            Ok(text) => Self::of(text),
            // Says where.
            Err(_) => serde_json::from_slice(text),
        }
    }

    /// Reads an object from a text, as [`parse`](Self::parse) does. Nothing in it is checked to be
    /// UTF-8 once more: what is nested deeply is read at every depth.
    pub fn of(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The raw value under `key`; the last one where a key stands twice, as parsers agree.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().rfind(|(name, _)| name == key).map(|(_, raw)| raw.as_ref())
    }

    /// The raw value under `key`, with `null` counted as absent.
    pub fn present(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|raw| *raw != "null")
    }

    /// The string under `key`; `None` where it is absent or no string.
    pub fn string(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).and_then(super::unquote)
    }

    /// The object under `key`; `None` where it is absent or no object.
    pub(crate) fn object(&self, key: &str) -> Option<Object<'_>> {
        let raw = self.get(key).filter(|raw| raw.starts_with('{'))?;
        Object::of(raw).ok()
    }

    /// The objects in the array under `key`.
    pub(crate) fn objects(&self, key: &str) -> Vec<Object<'_>> {
        super::objects(self.get(key).unwrap_or_default())
    }

    /// Whether `key` holds `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }

    /// Puts the raw value `raw` under `key`: in its place, or at the end where it is new.
    pub fn set(&mut self, key: impl Into<Cow<'a, str>>, raw: impl Into<Cow<'a, str>>) {
        let (key, raw) = (key.into(), raw.into());
        match self.fields.iter().rposition(|(name, _)| *name == key) {
            Some(at) => self.fields[at].1 = raw,
            None => self.fields.push((key, raw)),
        }
    }

    /// Puts the string `text` under `key`.
    pub fn set_string(&mut self, key: &'a str, text: &str) {
        self.set(key, quote(text));
    }

    /// Puts `raw` under `key` as the first field, or in its place where it is there.
    pub fn set_first(&mut self, key: &'a str, raw: impl Into<Cow<'a, str>>) {
        if self.get(key).is_none() {
            self.fields.insert(0, (key.into(), Cow::Borrowed("null")));
        }
        self.set(key, raw);
    }

    /// Takes `key` out, every occurrence of it.
    pub fn remove(&mut self, key: &str) {
        self.fields.retain(|(name, _)| name != key);
    }

    /// The fields in order, values raw.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, raw)| (name.as_ref(), raw.as_ref()))
    }

    /// The object as JSON text.
    pub fn to_text(&self) -> String {
        let length: usize = self.iter().map(|(name, raw)| name.len() + raw.len() + 4).sum();
        let mut text = String::with_capacity(length + 2);
        self.write(&mut text);
        text
    }

    /// The object as JSON bytes.
    pub fn to_bytes(&self) -> Bytes {
        self.to_text().into()
    }

    /// Appends the object as JSON to `text`.
    pub fn write(&self, text: &mut String) {
        text.push('{');
        for (position, (name, raw)) in self.iter().enumerate() {
            if position > 0 {
                text.push(',');
            }
            push_quoted(text, name);
            text.push(':');
            text.push_str(raw);
        }
        text.push('}');
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(fields: I) -> Self {
        let borrowed = |(key, raw)| (Cow::Borrowed(key), Cow::Borrowed(raw));
        Self { fields: fields.into_iter().map(borrowed).collect() }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        // A chunk of a Chat Completions server has ten.
        let mut fields = Vec::with_capacity(12);
        while let Some(Key(name)) = map.next_key()? {
            let raw: &'de RawValue = map.next_value()?;
            fields.push((name, Cow::Borrowed(raw.get())));
        }
        Ok(Object { fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_keeps_its_bytes() {
        let text = br#"{"b":1e2,"a\u0041":9007199254740993,"n":{ "x" : [1.0] },"id":"old"}"#;
        let mut object = Object::parse(text).unwrap();
        object.set_string("id", "new");
        object.set("fresh", "true");
        assert_eq!(
            object.to_text(),
            r#"{"b":1e2,"aA":9007199254740993,"n":{ "x" : [1.0] },"id":"new","fresh":true}"#
        );
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        let object = Object::parse(br#"{"id":"one","id":"two"}"#).unwrap();
        assert_eq!(object.string("id").as_deref(), Some("two"));
    }

    #[test]
    fn an_array_is_no_object() {
        assert!(Object::parse(b"[1]").is_err());
    }
}
