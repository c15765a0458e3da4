//! A JSON value and its path, with the texts of Anthropic's errors.

use serde_json::value::RawValue;

use crate::dialect::InvalidRequest;
use crate::json::{Object, unquote};

/// An object and its path in errors: `messages.1.content.0`.
pub(super) struct Fields<'a> {
    path: String,
    object: Object<'a>,
}

/// A raw value and its path.
pub(super) struct Field<'a> {
    path: String,
    raw: &'a str,
}

/// The error for a missing field.
pub(super) fn missing(path: &str) -> InvalidRequest {
    InvalidRequest::missing(path, format!("{path}: Field required"))
}

/// The error for the value at `path`.
pub(super) fn invalid(path: &str, sentence: &str) -> InvalidRequest {
    InvalidRequest::invalid_value(path, format!("{path}: {sentence}"))
}

impl<'a> Fields<'a> {
    /// The request itself.
    pub(super) fn root(request: &Object<'a>) -> Self {
        Self { path: String::new(), object: request.clone() }
    }

    /// A field that must be present.
    pub(super) fn required(&self, key: &str) -> Result<Field<'_>, InvalidRequest> {
        self.present(key).ok_or_else(|| missing(&self.path_of(key)))
    }

    /// A field, unless it is absent or null.
    pub(super) fn present(&self, key: &str) -> Option<Field<'_>> {
        let raw = self.object.present(key)?;
        Some(Field { path: self.path_of(key), raw })
    }

    /// The `type`, which must be present.
    pub(super) fn kind(&self) -> Result<String, InvalidRequest> {
        self.required("type")?.text()
    }

    /// The same object with its type in the path: `messages.0.content.1.text`.
    pub(super) fn typed(&self, kind: &str) -> Self {
        Self { path: self.path_of(kind), object: self.object.clone() }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
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

    pub(super) fn is_text(&self) -> bool {
        self.raw.starts_with('"')
    }

    pub(super) fn text(&self) -> Result<String, InvalidRequest> {
        let text = unquote(self.raw).map(std::borrow::Cow::into_owned);
        text.ok_or_else(|| self.should_be("a valid string"))
    }

    pub(super) fn object(&self) -> Result<Fields<'a>, InvalidRequest> {
        let object = Object::parse(self.raw.as_bytes());
        let object = object.map_err(|_| self.should_be("a valid dictionary"))?;
        Ok(Fields { path: self.path.clone(), object })
    }

    pub(super) fn array(&self) -> Result<Vec<Field<'a>>, InvalidRequest> {
        let values: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|_| self.should_be("a valid list"))?;
        let path = |index| format!("{}.{index}", self.path);
        let values = values.into_iter().enumerate();
        Ok(values.map(|(index, raw)| Field { path: path(index), raw: raw.get() }).collect())
    }

    pub(super) fn integer_from(&self, minimum: u64) -> Result<u64, InvalidRequest> {
        let number: i128 = self.raw.parse().map_err(|_| self.should_be("a valid integer"))?;
        let number = u64::try_from(number).ok().filter(|number| *number >= minimum);
        number.ok_or_else(|| self.should_be(&format!("greater than or equal to {minimum}")))
    }

    /// A number from 0 to 1.
    pub(super) fn fraction(&self) -> Result<f64, InvalidRequest> {
        match self.raw.parse::<f64>() {
            Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
            Ok(_) => Err(invalid(&self.path, "range: 0..1")),
            Err(_) => Err(self.should_be("a valid number")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, InvalidRequest> {
        match self.raw {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.should_be("a valid boolean")),
        }
    }

    pub(super) fn should_be(&self, expected: &str) -> InvalidRequest {
        let message = format!("{}: Input should be {expected}", self.path);
        InvalidRequest::wrong_type(&self.path, message)
    }
}
