//! What was made for a response before its upstream was asked.

use serde_json::Value;

use super::Assembler;
use crate::item::Item;

/// An item that comes before all that the upstream puts out, and the tokens that it took.
#[derive(Clone, Debug, Default)]
pub struct Preface {
    item: Option<Item>,
    /// A response's `usage`, raw.
    usage: Option<String>,
}

impl Preface {
    /// This item, for which a model was asked that used so many tokens: `usage`, raw, as responses
    /// have it; `None` where that is not known.
    pub fn new(item: Item, usage: Option<String>) -> Self {
        Self { item: Some(item), usage }
    }
}

impl Assembler {
    /// The same assembler, of a response that begins with this item.
    ///
    /// It is told with the first output of the upstream, or at the end of a response that did not
    /// fail: until then an upstream that fails can be asked again.
    #[must_use]
    pub fn beginning_with(self, preface: Preface) -> Self {
        Self { preface, ..self }
    }

    /// Tells the item, if there is one that was not told yet.
    pub(super) fn tell_preface(&mut self) {
        if let Some(item) = self.preface.item.take() {
            self.whole(&item, "completed");
        }
    }

    /// Counts its tokens among those that the upstream reported.
    pub(super) fn count_preface(&mut self) {
        let Some(usage) = &self.preface.usage else { return };
        let reported = self.envelope.get("usage").filter(|reported| *reported != "null");
        let total = reported.and_then(|reported| sum(reported, usage));
        let total = total.unwrap_or_else(|| usage.clone());
        self.envelope.set("usage", total);
    }
}

/// The sum of two objects of counts, some of them within objects of their own; `None` where either
/// is none.
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
    fn counts_are_summed_wherever_they_stand() {
        let one = r#"{"input_tokens":5,"input_tokens_details":{"cached_tokens":2}}"#;
        let two = r#"{"input_tokens":7,"input_tokens_details":{"cached_tokens":1},"cost":3}"#;
        let total: Value = serde_json::from_str(&sum(one, two).unwrap()).unwrap();
        let expected = r#"{"input_tokens":12,"input_tokens_details":{"cached_tokens":3},"cost":3}"#;
        assert_eq!(total, serde_json::from_str::<Value>(expected).unwrap());
        assert_eq!(sum("7", two), None);
    }
}
