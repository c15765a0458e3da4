//! A JSON value and its path, with the texts of Google's errors.

use serde_json::value::RawValue;

use crate::dialect::InvalidRequest;
use crate::json::{Object, unquote};

/// An object and its path in errors: `contents[1].parts[0]`.
pub(super) struct Fields<'a> {
    path: String,
    object: Object<'a>,
}

/// A raw value and its path.
pub(super) struct Field<'a> {
    path: String,
    raw: &'a str,
}

/// The error for the value at `path`.
pub(super) fn invalid(path: &str, sentence: &str) -> InvalidRequest {
    let message = format!("* GenerateContentRequest.{path}: {sentence}");
    InvalidRequest::invalid_value(path, message)
}

impl<'a> Fields<'a> {
    /// The request itself.
    pub(super) fn root(request: &Object<'a>) -> Self {
        Self { path: String::new(), object: request.clone() }
    }

    /// A field that must be present.
    pub(super) fn required(&self, key: &str) -> Result<Field<'_>, InvalidRequest> {
        let missing = || invalid(&self.path_of(key), &format!("{key} is not specified"));
        self.present(key).ok_or_else(missing)
    }

    /// A field, unless it is absent or null. Google accepts each name also in snake case.
    pub(super) fn present(&self, key: &str) -> Option<Field<'_>> {
        let raw = self.object.present(key).or_else(|| self.object.present(&snake_case(key)))?;
        Some(Field { path: self.path_of(key), raw })
    }

    /// An object, unless it is absent or null.
    pub(super) fn object_at(&self, key: &str) -> Result<Option<Fields<'_>>, InvalidRequest> {
        self.present(key).map(|field| field.object()).transpose()
    }

    /// The elements of an array; none if it is absent or null.
    pub(super) fn array_at(&self, key: &str) -> Result<Vec<Field<'_>>, InvalidRequest> {
        self.present(key).map_or(Ok(Vec::new()), |field| field.array())
    }

    /// A text, unless it is absent or null.
    pub(super) fn text_at(&self, key: &str) -> Result<Option<String>, InvalidRequest> {
        self.present(key).map(|field| field.text()).transpose()
    }

    /// Whether the flag is set.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.present(key).is_some_and(|field| field.raw == "true")
    }

    /// The names and values that are not null, with the names in camel case.
    pub(super) fn iter(&self) -> impl Iterator<Item = (String, &str)> {
        let present = self.object.iter().filter(|(_, raw)| *raw != "null");
        present.map(|(key, raw)| (camel_case(key), raw))
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The path of the field with this name.
    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl<'a> Field<'a> {
    pub(super) fn raw(&self) -> &'a str {
        self.raw
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn is_array(&self) -> bool {
        self.raw.starts_with('[')
    }

    pub(super) fn text(&self) -> Result<String, InvalidRequest> {
        let text = unquote(self.raw).map(std::borrow::Cow::into_owned);
        text.ok_or_else(|| self.wrong_type("TYPE_STRING"))
    }

    pub(super) fn object(&self) -> Result<Fields<'a>, InvalidRequest> {
        let object = Object::parse_str(self.raw).map_err(|_| self.wrong_type("TYPE_MESSAGE"))?;
        Ok(Fields { path: self.path.clone(), object })
    }

    /// The elements of the array. Google reads any other value as an array of one.
    pub(super) fn array(&self) -> Result<Vec<Field<'a>>, InvalidRequest> {
        if !self.is_array() {
            return Ok(vec![Field { path: self.path.clone(), raw: self.raw }]);
        }
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|_| self.wrong_type("TYPE_MESSAGE"))?;
        let path = |index| format!("{}[{index}]", self.path);
        let values = values.into_iter().enumerate();
        Ok(values.map(|(index, raw)| Field { path: path(index), raw: raw.get() }).collect())
    }

    pub(super) fn integer(&self) -> Result<i64, InvalidRequest> {
        self.raw.parse().map_err(|_| self.wrong_type("TYPE_INT32"))
    }

    pub(super) fn number(&self) -> Result<f64, InvalidRequest> {
        self.raw.parse().map_err(|_| self.wrong_type("TYPE_FLOAT"))
    }

    /// The error for a value of another type than this.
    fn wrong_type(&self, expected: &str) -> InvalidRequest {
        let value: String = self.raw.chars().take(100).collect();
        let message = format!("Invalid value at '{}' ({expected}), {value}", self.path);
        InvalidRequest::wrong_type(&self.path, message)
    }
}

/// `functionCall` as `function_call`.
fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// `function_call` as `functionCall`.
fn camel_case(key: &str) -> String {
    let mut camel = String::with_capacity(key.len());
    let mut is_first = false;
    for letter in key.chars() {
        match letter {
            '_' => is_first = true,
            letter if std::mem::take(&mut is_first) => camel.push(letter.to_ascii_uppercase()),
            letter => camel.push(letter),
        }
    }
    camel
}
