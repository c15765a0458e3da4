//! A JSON value and its path.

use serde_json::{Map, Value};

use crate::Refusal;

/// A value and its path in error texts: `messages.1.content.0.text`.
#[derive(Clone)]
pub(super) struct Field<'a> {
    place: String,
    value: &'a Value,
}

impl<'a> Field<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { place: String::new(), value }
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// The same value with its type added to the path: `tools.0.custom`.
    pub(super) fn as_a(&self, kind: &str) -> Self {
        Self { place: self.child_place(kind), value: self.value }
    }

    /// A field, unless it is absent or null.
    pub(super) fn present(&self, name: &str) -> Option<Self> {
        self.child(name).filter(|field| !field.value.is_null())
    }

    /// A required field.
    pub(super) fn required(&self, name: &str) -> Result<Self, Refusal> {
        self.child(name).ok_or_else(|| Refusal::field_required(self.child_place(name)))
    }

    /// Refuses fields that are not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.object()?.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refusal::extra_input(self.child_place(name))),
            None => Ok(()),
        }
    }

    fn child(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name)?;
        Some(Self { place: self.child_place(name), value })
    }

    fn child_place(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) }
    }
}

/// Type checks.
impl<'a> Field<'a> {
    pub(super) fn text(&self) -> Result<&'a str, Refusal> {
        self.value.as_str().ok_or_else(|| self.should_be("a valid string"))
    }

    /// A string that is an identifier: letters, digits, `_` and `-`.
    pub(super) fn name(&self, maximum: usize, pattern: &str) -> Result<&'a str, Refusal> {
        let name = self.text()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > maximum || !name.chars().all(plain) {
            return Err(Refusal::should_match(&self.place, pattern));
        }
        Ok(name)
    }

    pub(super) fn integer_from(&self, minimum: u64) -> Result<u64, Refusal> {
        let number = self.value.as_u64().ok_or_else(|| self.should_be("a valid integer"))?;
        if number < minimum {
            return Err(self.should_be(&format!("greater than or equal to {minimum}")));
        }
        Ok(number)
    }

    pub(super) fn number_between(
        &self,
        range: std::ops::RangeInclusive<u8>,
    ) -> Result<(), Refusal> {
        let number = self.value.as_f64().ok_or_else(|| self.should_be("a valid number"))?;
        let (low, high) = range.into_inner();
        if number < f64::from(low) || number > f64::from(high) {
            return Err(Refusal::out_of_range(&self.place, &format!("{low}..{high}")));
        }
        Ok(())
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>, Refusal> {
        self.value.as_object().ok_or_else(|| self.should_be("a valid dictionary"))
    }

    pub(super) fn array(&self) -> Result<Vec<Self>, Refusal> {
        let values = self.value.as_array().ok_or_else(|| self.should_be("a valid list"))?;
        let element = |(index, value)| Self { place: format!("{}.{index}", self.place), value };
        Ok(values.iter().enumerate().map(element).collect())
    }

    /// The `type` of a value that has several variants.
    pub(super) fn tag(&self, expected: &[&str]) -> Result<&'a str, Refusal> {
        self.object()?;
        let tag = self.required("type")?.text()?;
        if expected.contains(&tag) { Ok(tag) } else { Err(self.unknown_tag(tag, expected)) }
    }

    pub(super) fn unknown_tag(&self, tag: &str, expected: &[&str]) -> Refusal {
        Refusal::unknown_tag(&self.place, tag, expected)
    }

    pub(super) fn should_be(&self, what: &str) -> Refusal {
        Refusal::should_be(&self.place, what)
    }
}
