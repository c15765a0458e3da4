//! An item that precedes the upstream's output, such as a compaction.

use serde_json::Value;

use crate::item::Item;

/// An item that precedes the upstream's output, and the tokens that it used.
#[derive(Clone, Debug)]
pub struct Preface {
    item: Option<Item>,
    /// A response's `usage`, raw.
    usage: Option<String>,
}

impl Preface {
    /// Creates a preface. `usage` is the raw `usage` object of the request that produced the item;
    /// `None` if it is unknown.
    pub fn new(item: Item, usage: Option<String>) -> Self {
        Self { item: Some(item), usage }
    }

    /// Returns the item, once.
    pub(super) fn take_item(&mut self) -> Option<Item> {
        self.item.take()
    }

    /// The sum of its tokens and those that the upstream reports; `None` if its own are unknown.
    pub(super) fn total_usage(&self, reported: Option<&str>) -> Option<String> {
        let usage = self.usage.as_ref()?;
        let reported = reported.filter(|reported| *reported != "null");
        let total = reported.and_then(|reported| sum(reported, usage));
        Some(total.unwrap_or_else(|| usage.clone()))
    }
}

/// Adds two objects of counters, nested objects included; `None` if either is not an object.
fn sum(one: &str, two: &str) -> Option<String> {
    let mut total: Value = serde_json::from_str(one).ok()?;
    add(&mut total, &serde_json::from_str(two).ok()?);
    total.is_object().then(|| total.to_string())
}

fn add(total: &mut Value, more: &Value) {
    match (&mut *total, more) {
        (Value::Object(total), Value::Object(more)) => {
            for (key, more) in more {
                add(total.entry(key).or_insert(Value::Null), more);
            }
        }
        (Value::Null, more) => *total = more.clone(),
        (one, two) => {
            if let (Some(one), Some(two)) = (one.as_u64(), two.as_u64()) {
                *total = one.saturating_add(two).into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_counters_are_added() {
        let one = r#"{"input_tokens":5,"input_tokens_details":{"cached_tokens":2}}"#;
        let two = r#"{"input_tokens":7,"input_tokens_details":{"cached_tokens":1},"cost":3}"#;
        let total: Value = serde_json::from_str(&sum(one, two).unwrap()).unwrap();
        let expected = r#"{"input_tokens":12,"input_tokens_details":{"cached_tokens":3},"cost":3}"#;
        assert_eq!(total, serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(sum("7", two), None);
    }
}
