//! A JSON value and its path.

use serde_json::{Map, Value};

use crate::Refusal;

/// A value and its path in error texts: `tools[0].function`.
#[derive(Clone)]
pub(super) struct Field<'a> {
    param: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { param: String::new(), value }
    }

    pub(super) fn param(&self) -> &str {
        &self.param
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// A field, unless it is absent or null.
    pub(super) fn present(&self, name: &str) -> Option<Self> {
        self.child(name).filter(|field| !field.value.is_null())
    }

    /// A required field.
    pub(super) fn required(&self, name: &str) -> Result<Self, Refusal> {
        let missing = || Refusal::missing_parameter(&self.child_param(name)).for_chat();
        self.child(name).ok_or_else(missing)
    }

    /// Refuses fields that are not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.object()?.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refusal::unknown_parameter(&self.child_param(name))),
            None => Ok(()),
        }
    }

    fn child(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?;
        Some(Self { param: self.child_param(name), value })
    }

    fn child_param(&self, name: &str) -> String {
        if self.param.is_empty() { name.to_owned() } else { format!("{}.{name}", self.param) }
    }
}

/// Type checks.
impl<'a> Field<'a> {
    pub(super) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.wrong_type("a string"))
    }

    /// A string that is an identifier: letters, digits, `_` and `-`, at most `maximum` characters.
    pub(super) fn name(&self, maximum: usize) -> Result<&'a str, Refusal> {
        let name = self.text()?;
        self.at_most(maximum)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(Refusal::wrong_pattern(&self.param, "^[a-zA-Z0-9_-]+$"));
        }
        Ok(name)
    }

    pub(super) fn at_most(&self, maximum: usize) -> Result<(), Refusal> {
        match self.text()?.chars().count() {
            length if length > maximum => {
                Err(Refusal::too_long(&self.param, maximum, length).for_chat())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn one_of(&self, supported: &[&str]) -> Result<&'a str, Refusal> {
        let value = self.text()?;
        if supported.contains(&value) {
            return Ok(value);
        }
        Err(Refusal::unsupported_value(&self.param, value, supported))
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>, Refusal> {
        self.value.as_object().ok_or_else(|| self.wrong_type("an object"))
    }

    /// The elements of a non-empty array.
    pub(super) fn array(&self) -> Result<Vec<Self>, Refusal> {
        let values = self.value.as_array().ok_or_else(|| self.wrong_type("an array"))?;
        if values.is_empty() {
            return Err(Refusal::empty_array(&self.param));
        }
        let element = |(index, value)| Self { param: format!("{}[{index}]", self.param), value };
        Ok(values.iter().enumerate().map(element).collect())
    }

    pub(super) fn wrong_type(&self, expected: &str) -> Refusal {
        Refusal::wrong_type(&self.param, expected, self.value).for_chat()
    }
}
