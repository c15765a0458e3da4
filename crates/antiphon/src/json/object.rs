//! A JSON object as a list of fields in order, with raw values.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{push_quoted, quote, scanner};

/// A JSON object whose fields can be changed one by one.
///
/// The order stays, and so does the raw text of every unchanged value: unknown fields, numbers,
/// escapes, white space. Keys are written without unnecessary escapes, and fields without space
/// between them.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    pub(super) fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> Object<'a> {
    /// Parses an object in one pass. Allocates only the list of fields.
    pub fn parse(text: &'a [u8]) -> Result<Self, serde_json::Error> {
        match str::from_utf8(text) {
            Ok(text) => Self::parse_str(text),
            // Serde's error contains the position.
            Err(_) => serde_json::from_slice(text),
        }
    }

    /// Parses an object from text, as [`parse`](Self::parse) does from bytes. Skips the check for
    /// UTF-8, which would otherwise be repeated at each level of nested objects.
    pub fn parse_str(text: &'a str) -> Result<Self, serde_json::Error> {
        match scanner::fields(text) {
            Some(fields) => Ok(Self { fields }),
            None => serde_json::from_str(text),
        }
    }

    /// The raw value under `key`. If the key occurs twice, the last one counts, as in most parsers.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.iter().rfind(|(name, _)| name == key).map(|(_, raw)| raw.as_ref())
    }

    /// The raw value under `key`; `None` also for `null`.
    pub fn present(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|raw| *raw != "null")
    }

    /// The string under `key`; `None` if it is absent or not a string.
    pub fn string(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).and_then(super::unquote)
    }

    /// The object under `key`; `None` if it is absent or not an object.
    pub(crate) fn object(&self, key: &str) -> Option<Object<'_>> {
        let raw = self.get(key).filter(|raw| raw.starts_with('{'))?;
        Object::parse_str(raw).ok()
    }

    /// The objects in the array under `key`.
    pub(crate) fn objects(&self, key: &str) -> Vec<Object<'_>> {
        super::objects(self.get(key).unwrap_or_default())
    }

    /// Whether the value under `key` is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some("true")
    }

    /// Creates an object without fields that has room for `count`.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { fields: Vec::with_capacity(count) }
    }

    /// Adds a field at the end. The object must not have one under `key`.
    pub(crate) fn add(&mut self, key: impl Into<Cow<'a, str>>, raw: impl Into<Cow<'a, str>>) {
        let key = key.into();
        debug_assert!(self.get(&key).is_none(), "{key} occurs twice");
        self.fields.push((key, raw.into()));
    }

    /// Sets `key` to the raw value `raw`. A new key is added at the end.
    pub fn set(&mut self, key: impl Into<Cow<'a, str>>, raw: impl Into<Cow<'a, str>>) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(value) => *value = raw.into(),
            None => self.fields.push((key, raw.into())),
        }
    }

    /// The raw value under `key`, to be changed. Of two fields with this key, it is the last one.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Cow<'a, str>> {
        self.fields.iter_mut().rfind(|(name, _)| name == key).map(|(_, raw)| raw)
    }

    /// Sets `key` to the string `text`.
    pub fn set_string(&mut self, key: &'a str, text: &str) {
        self.set(key, quote(text));
    }

    /// Sets `key` to the raw value `raw`. A new key is added at the start.
    pub fn set_first(&mut self, key: &'a str, raw: impl Into<Cow<'a, str>>) {
        if self.get(key).is_none() {
            self.fields.insert(0, (key.into(), Cow::Borrowed("null")));
        }
        self.set(key, raw);
    }

    /// Removes every occurrence of `key`.
    pub fn remove(&mut self, key: &str) {
        self.fields.retain(|(name, _)| name != key);
    }

    /// The fields in order, with raw values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, raw)| (name.as_ref(), raw.as_ref()))
    }

    /// The same object with its own copies of all values.
    pub(crate) fn into_owned(self) -> Object<'static> {
        let owned = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        let fields = self.fields.into_iter().map(|(name, raw)| (owned(name), owned(raw)));
        Object { fields: fields.collect() }
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
        // A chunk of a Chat Completions stream has ten fields.
        let mut fields = Vec::with_capacity(12);
        while let Some(Key(name)) = map.next_key()? {
            let raw: &'de RawValue = map.next_value()?;
            fields.push((name, Cow::Borrowed(raw.get())));
        }
        Ok(Object { fields })
    }
}

/// A key, borrowed unless it holds escapes.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_fields_keep_their_bytes() {
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
    fn last_of_two_equal_keys_counts() {
        let object = Object::parse(br#"{"id":"one","id":"two"}"#).unwrap();
        assert_eq!(object.string("id").as_deref(), Some("two"));
    }

    #[test]
    fn array_is_not_an_object() {
        assert!(Object::parse(b"[1]").is_err());
    }
}
