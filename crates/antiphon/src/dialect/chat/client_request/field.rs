//! A JSON value and its path, with the texts of OpenAI's errors.

use serde_json::value::RawValue;

use crate::dialect::{InvalidRequest, InvalidRequestKind};
use crate::json::{Object, type_name, unquote};

/// An object and its path in errors: `messages[1].content[0]`.
pub(super) struct Fields<'a> {
    path: String,
    object: Object<'a>,
}

/// A raw value and its path.
pub(super) struct Field<'a> {
    path: String,
    raw: &'a str,
}

impl<'a> Fields<'a> {
    /// The request itself.
    pub(super) fn root(request: &Object<'a>) -> Self {
        Self { path: String::new(), object: request.clone() }
    }

    /// A field that must be present.
    pub(super) fn required(&self, key: &str) -> Result<Field<'_>, InvalidRequest> {
        self.present(key).ok_or_else(|| {
            let path = self.path_of(key);
            let message = format!("Missing required parameter: '{path}'.");
            InvalidRequest::missing(path, message)
        })
    }

    /// A field, unless it is absent or null.
    pub(super) fn present(&self, key: &str) -> Option<Field<'_>> {
        let raw = self.object.present(key)?;
        Some(Field { path: self.path_of(key), raw })
    }

    /// The object itself.
    pub(super) fn object(&self) -> &Object<'a> {
        &self.object
    }

    fn path_of(&self, key: &str) -> String {
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

    /// The raw string.
    pub(super) fn string(&self) -> Result<&'a str, InvalidRequest> {
        if self.raw.starts_with('"') { Ok(self.raw) } else { Err(self.wrong_type("a string")) }
    }

    pub(super) fn text(&self) -> Result<String, InvalidRequest> {
        Ok(unquote(self.string()?).unwrap_or_default().into_owned())
    }

    pub(super) fn object(&self) -> Result<Fields<'a>, InvalidRequest> {
        let object = Object::parse_str(self.raw).map_err(|_| self.wrong_type("an object"))?;
        Ok(Fields { path: self.path.clone(), object })
    }

    pub(super) fn array(&self, expected: &str) -> Result<Vec<Field<'a>>, InvalidRequest> {
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|_| self.wrong_type(expected))?;
        let path = |index| format!("{}[{index}]", self.path);
        let values = values.into_iter().enumerate();
        Ok(values.map(|(index, raw)| Field { path: path(index), raw: raw.get() }).collect())
    }

    /// An integer that is at least `minimum`.
    pub(super) fn integer_from(&self, minimum: i64) -> Result<i64, InvalidRequest> {
        let number: i64 = self.raw.parse().map_err(|_| self.wrong_type("an integer"))?;
        if number >= minimum {
            return Ok(number);
        }
        let message = format!(
            "Invalid '{}': integer below minimum value. Expected a value >= {minimum}, but got \
             {number} instead.",
            self.path
        );
        Err(InvalidRequest::new(InvalidRequestKind::IntegerBelowMinimum, &self.path, message))
    }

    pub(super) fn boolean(&self) -> Result<bool, InvalidRequest> {
        match self.raw {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong_type("a boolean")),
        }
    }

    /// A text that is one of these.
    pub(super) fn one_of(
        &self,
        supported: &[&'static str],
    ) -> Result<&'static str, InvalidRequest> {
        let text = self.text()?;
        supported.iter().find(|value| **value == text).copied().ok_or_else(|| {
            let message =
                format!("Invalid value: '{text}'. Supported values are: {}.", listed(supported));
            InvalidRequest::invalid_value(&self.path, message)
        })
    }

    /// The error for a value of another type.
    pub(super) fn wrong_type(&self, expected: &str) -> InvalidRequest {
        let got = type_name(self.raw);
        let message = format!(
            "Invalid type for '{}': expected {expected}, but got {got} instead.",
            self.path
        );
        InvalidRequest::wrong_type(&self.path, message)
    }

    /// The error for an empty array.
    pub(super) fn empty_array(&self) -> InvalidRequest {
        let message = format!(
            "Invalid '{}': empty array. Expected an array with minimum length 1, but got an empty \
             array instead.",
            self.path
        );
        InvalidRequest::new(InvalidRequestKind::EmptyArray, &self.path, message)
    }

    /// The error for an invalid value.
    pub(super) fn invalid(&self, sentence: &str) -> InvalidRequest {
        InvalidRequest::invalid_value(&self.path, format!("Invalid '{}': {sentence}", self.path))
    }
}

/// The values in a sentence: `'a', 'b', and 'c'`.
fn listed(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match &*quoted {
        [] | [_] => quoted.concat(),
        [first, last] => format!("{first} and {last}"),
        [others @ .., last] => format!("{}, and {last}", others.join(", ")),
    }
}
