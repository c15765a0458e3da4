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

impl Ids {
    /// Says what is different, and where.
    pub(crate) fn compare(
        &mut self,
        expected: &str,
        actual: &str,
        extent: Extent,
    ) -> Result<(), String> {
        let (expected, actual) = (expected.trim(), actual.trim());
        let differs = || format!("expected {expected}\n  but got {actual}");
        match (expected.as_bytes()[0], actual.as_bytes()[0]) {
            (b'{', b'{') => self
                .compare_objects(expected, actual, extent)
                .map_err(|inner| if inner.is_empty() { differs() } else { inner }),
            (b'[', b'[') => {
                let (expected, actual) = (elements(expected), elements(actual));
                if expected.len() != actual.len() {
                    return Err(differs());
                }
                let mut pairs = expected.into_iter().zip(actual);
                pairs.try_for_each(|(expected, actual)| self.compare(expected, actual, extent))
            }
            (b'"', b'"') => match (unquote(expected), unquote(actual)) {
                (Some(expected), Some(actual)) if self.is(&expected, &actual) => Ok(()),
                _ if expected == actual => Ok(()),
                _ => Err(differs()),
            },
            _ if expected == actual => Ok(()),
            _ => Err(differs()),
        }
    }

    /// The error is empty where the objects differ by their fields.
    fn compare_objects(
        &mut self,
        expected: &str,
        actual: &str,
        extent: Extent,
    ) -> Result<(), String> {
        let (expected, actual) = (fields(expected), fields(actual));
        if extent == Extent::Named {
            for (key, value) in expected {
                let found = actual.iter().find(|(name, _)| *name == key);
                let (_, found) = found.ok_or_else(String::new)?;
                self.compare(&value, found, extent).map_err(|inner| within(&key, &inner))?;
            }
            return Ok(());
        }
        let keys = |fields: &[(String, String)]| -> Vec<String> {
            fields.iter().map(|(key, _)| key.clone()).collect()
        };
        if keys(&expected) != keys(&actual) {
            return Err(String::new());
        }
        for ((key, value), (_, found)) in expected.iter().zip(&actual) {
            self.compare(value, found, extent).map_err(|inner| within(key, &inner))?;
        }
        Ok(())
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

fn within(key: &str, inner: &str) -> String {
    format!("in '{key}': {inner}")
}

fn elements(text: &str) -> Vec<&str> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).unwrap();
    elements.into_iter().map(RawValue::get).collect()
}

/// The fields in the order of their names.
fn fields(text: &str) -> Vec<(String, String)> {
    let object = Object::of(text).unwrap();
    let mut fields: Vec<(String, String)> =
        object.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    fields.sort_by(|(one, _), (two, _)| one.cmp(two));
    fields
}
