//! What is expected, beside what came. Numbers are compared by their digits.

use std::collections::HashMap;

use antiphon::json::{Object, unquote};
use serde_json::value::RawValue;

/// What the ids of one case stand for.
#[derive(Default)]
pub(crate) struct Ids(HashMap<String, String>);

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// Both have the same fields.
    Whole,
    /// Only fields that are expected are compared.
    Named,
}

/// A value that is expected, and the one that came in its place.
type Pair = (String, String);

impl Ids {
    /// Says what is different, and where.
    pub(crate) fn compare(
        &mut self,
        expected: &str,
        actual: &str,
        extent: Extent,
    ) -> Result<(), String> {
        let (expected, actual) = (expected.trim(), actual.trim());
        let pairs = match (expected.as_bytes()[0], actual.as_bytes()[0]) {
            (b'{', b'{') => pairs_of_objects(expected, actual, extent),
            (b'[', b'[') => pairs_of_lists(expected, actual),
            (b'"', b'"') => self.is_text(expected, actual).then(Vec::new),
            _ => (expected == actual).then(Vec::new),
        };
        let differs = || format!("expected {expected}\n  but got {actual}");
        for (expected, actual) in pairs.ok_or_else(differs)? {
            self.compare(&expected, &actual, extent)?;
        }
        Ok(())
    }

    /// Whether two strings are one. Of what is no text, such as half a pair of surrogates, the
    /// escapes are compared.
    fn is_text(&mut self, expected: &str, actual: &str) -> bool {
        match (unquote(expected), unquote(actual)) {
            (Some(expected), Some(actual)) => self.is(&expected, &actual),
            _ => expected == actual,
        }
    }

    /// Whether the text is the one that is expected, or that an id stands for.
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

/// `None` where one has fields that the other has not.
fn pairs_of_objects(expected: &str, actual: &str, extent: Extent) -> Option<Vec<Pair>> {
    let (expected, mut actual) = (fields(expected), fields(actual));
    if extent == Extent::Named {
        actual.retain(|(key, _)| expected.iter().any(|(named, _)| named == key));
    }
    let keys = |fields: &[Pair]| fields.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let are_same = keys(&expected) == keys(&actual);
    let values = expected.into_iter().zip(actual).map(|((_, one), (_, two))| (one, two));
    are_same.then(|| values.collect())
}

/// `None` where they are of different lengths.
fn pairs_of_lists(expected: &str, actual: &str) -> Option<Vec<Pair>> {
    let (expected, actual) = (elements(expected), elements(actual));
    let are_as_long = expected.len() == actual.len();
    are_as_long.then(|| expected.into_iter().zip(actual).collect())
}

fn elements(text: &str) -> Vec<String> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
    elements.into_iter().map(|element| element.get().to_owned()).collect()
}

/// The fields in the order of their names; those of one name as they stand.
fn fields(text: &str) -> Vec<Pair> {
    let object = Object::of(text).unwrap();
    let field = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut fields: Vec<Pair> = object.iter().map(field).collect();
    fields.sort_by(|(one, _), (two, _)| one.cmp(two));
    fields
}
