//! The values of earlier answers, and the placeholders that stand for them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The answers of the steps by name, and the name of the model.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Value>);

/// The placeholder of a value that no answer has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing(pub(super) String);

impl Variables {
    pub(super) fn insert(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Replaces the placeholders in a text.
    pub(super) fn fill_text(&self, text: &str) -> Result<String, Missing> {
        let Some((before, path, after)) = split_placeholder(text) else {
            return Ok(text.to_owned());
        };
        let value = self.find(path)?;
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Ok(format!("{before}{value}{}", self.fill_text(after)?))
    }

    /// Replaces the placeholders in all texts of a value. A text that is one placeholder becomes
    /// the value itself. `{"$repeat": N, "of": VALUE}` becomes N copies: an array, or one text.
    pub(super) fn fill(&self, value: &Value) -> Result<Value, Missing> {
        match value {
            Value::String(text) => match split_placeholder(text) {
                Some(("", path, "")) => self.find(path).cloned(),
                _ => self.fill_text(text).map(Value::String),
            },
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::Object(fields) => match fields.get("$repeat").and_then(Value::as_u64) {
                Some(times) => self.fill(&fields["of"]).map(|value| repeat(&value, times)),
                None => self.fill_fields(fields).map(Value::Object),
            },
            other => Ok(other.clone()),
        }
    }

    pub(super) fn fill_fields(
        &self,
        fields: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Missing> {
        fields.iter().map(|(name, value)| Ok((name.clone(), self.fill(value)?))).collect()
    }

    /// The value at `name.path`. In an array, a part of the path is an index, or the type of the
    /// first such item.
    fn find(&self, path: &str) -> Result<&Value, Missing> {
        let mut parts = path.split('.');
        let first = parts.next().and_then(|name| self.0.get(name));
        let found = parts.fold(first, |value, part| match value? {
            Value::Array(items) => match part.parse::<usize>() {
                Ok(index) => items.get(index),
                Err(_) => items.iter().find(|item| item["type"] == part),
            },
            value => value.get(part),
        });
        found.ok_or_else(|| Missing(format!("{{{path}}}")))
    }
}

fn repeat(value: &Value, times: u64) -> Value {
    let times = usize::try_from(times).expect("the number of copies is small");
    match value {
        Value::String(text) => text.repeat(times).into(),
        value => vec![value.clone(); times].into(),
    }
}

/// The text before the first placeholder, its path, and the text after it. Other braces, as in
/// JSON, are text.
fn split_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let is_path = |path: &str| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
        path.starts_with(|c: char| c.is_ascii_lowercase()) && path.chars().all(is_plain)
    };
    text.match_indices('{').find_map(|(at, _)| {
        let (path, after) = text[at + 1..].split_once('}')?;
        is_path(path).then_some((&text[..at], path, after))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variables() -> Variables {
        let mut variables = Variables::default();
        let output =
            json!([{"type": "reasoning", "id": "rs_1"}, {"type": "message", "id": "msg_1"}]);
        variables.insert("text", json!({"id": "resp_1", "count": 2, "output": output}));
        variables
    }

    #[test]
    fn placeholders_stand_for_values_of_answers() {
        let fill = |value: Value| variables().fill(&value).unwrap();
        assert_eq!(fill(json!("/responses/{text.id}/x")), "/responses/resp_1/x");
        assert_eq!(
            fill(json!(["{text.output.message}"])),
            json!([{"type": "message", "id": "msg_1"}])
        );
        assert_eq!(fill(json!({"a": "{text.output.0.id} {text.count}"})), json!({"a": "rs_1 2"}));
        assert_eq!(fill(json!("{}, {*} and {\"a\": 1}")), "{}, {*} and {\"a\": 1}");
    }

    #[test]
    fn copies_are_a_list_or_a_text() {
        let fill = |value: Value| variables().fill(&value).unwrap();
        assert_eq!(fill(json!({"$repeat": 3, "of": "ab"})), "ababab");
        assert_eq!(fill(json!({"$repeat": 2, "of": {"a": 1}})), json!([{"a": 1}, {"a": 1}]));
    }

    #[test]
    fn missing_value_is_named() {
        for path in ["none", "text.none", "text.output.function_call.id", "text.output.7"] {
            let missing = variables().fill_text(&format!("x {{{path}}}")).unwrap_err();
            assert_eq!(missing, Missing(format!("{{{path}}}")));
        }
    }
}
