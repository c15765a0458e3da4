//! Compares expected with actual JSON. Numbers are compared digit by digit.

use std::collections::HashMap;

use antiphon::json::{Object, unquote};
use serde_json::value::RawValue;

/// The actual ids behind the names in a case.
#[derive(Default)]
pub(crate) struct Ids(HashMap<String, String>);

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Comparison {
    /// Both have the same fields.
    Whole,
    /// Only the expected fields are compared.
    Named,
}

/// An expected value and the actual value in its place.
type Pair = (String, String);

impl Ids {
    /// Describes the difference and its place.
    pub(crate) fn compare(
        &mut self,
        expected: &str,
        actual: &str,
        comparison: Comparison,
    ) -> Result<(), String> {
        let (expected, actual) = (expected.trim(), actual.trim());
        let pairs = match (expected.as_bytes()[0], actual.as_bytes()[0]) {
            (b'{', b'{') => pairs_of_objects(expected, actual, comparison),
            (b'[', b'[') => pairs_of_lists(expected, actual),
            (b'"', b'"') => self.is_text(expected, actual).then(Vec::new),
            _ => (expected == actual).then(Vec::new),
        };
        let differs = || format!("expected {expected}\n  but got {actual}");
        for (expected, actual) in pairs.ok_or_else(differs)? {
            self.compare(&expected, &actual, comparison)?;
        }
        Ok(())
    }

    /// Whether two strings are equal. Strings that are not text, such as lone surrogates, are
    /// compared by their escapes.
    fn is_text(&mut self, expected: &str, actual: &str) -> bool {
        match (unquote(expected), unquote(actual)) {
            (Some(expected), Some(actual)) => self.is(&expected, &actual),
            _ => expected == actual,
        }
    }

    /// Whether the text equals the expected one, or the id that it stands for.
    fn is(&mut self, expected: &str, actual: &str) -> bool {
        if !(expected.starts_with("<id ") && expected.ends_with('>')) {
            return expected == actual;
        }
        if let Some(known) = self.0.get(expected) {
            return known == actual;
        }
        let is_new = self.0.values().all(|known| known != actual);
        self.0.insert(expected.to_owned(), actual.to_owned());
        is_new
    }
}

/// The pairs of fields; `None` if one object has fields that the other lacks.
fn pairs_of_objects(expected: &str, actual: &str, comparison: Comparison) -> Option<Vec<Pair>> {
    let (expected, mut actual) = (fields(expected), fields(actual));
    if comparison == Comparison::Named {
        actual.retain(|(key, _)| expected.iter().any(|(named, _)| named == key));
    }
    let keys = |fields: &[Pair]| fields.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let are_same = keys(&expected) == keys(&actual);
    let values = expected.into_iter().zip(actual).map(|((_, one), (_, two))| (one, two));
    are_same.then(|| values.collect())
}

/// The pairs of elements; `None` if the lengths differ.
fn pairs_of_lists(expected: &str, actual: &str) -> Option<Vec<Pair>> {
    let (expected, actual) = (elements(expected), elements(actual));
    let are_as_long = expected.len() == actual.len();
    are_as_long.then(|| expected.into_iter().zip(actual).collect())
}

fn elements(text: &str) -> Vec<String> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}

/// The fields sorted by name. Fields with the same name stay in order.
fn fields(text: &str) -> Vec<Pair> {
    let object = Object::parse_str(text).unwrap();
    let field = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut fields: Vec<Pair> = object.iter().map(field).collect();
    fields.sort_by(|(one, _), (two, _)| one.cmp(two));
    fields
}
