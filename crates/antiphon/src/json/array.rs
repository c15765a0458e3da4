//! Reads arrays, and replaces one within a larger text without changing the bytes around it.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::{Object, scanner};

/// The raw elements of an array; `None` if the text is not one.
pub(crate) fn elements(array: &str) -> Option<Vec<&str>> {
    scanner::elements(array).or_else(|| parse(array.as_bytes()).ok())
}

/// The raw elements of an array. An error contains the position.
pub(crate) fn parse_elements(array: &[u8]) -> Result<Vec<&str>, serde_json::Error> {
    let scanned = str::from_utf8(array).ok().and_then(scanner::elements);
    scanned.map_or_else(|| parse(array), Ok)
}

/// Parses an array that the scanner leaves to a general parser.
fn parse(array: &[u8]) -> Result<Vec<&str>, serde_json::Error> {
    let elements: Vec<&RawValue> = serde_json::from_slice(array)?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

/// The objects in a raw array. Other elements are skipped; a value that is not an array has none.
pub(crate) fn objects(array: &str) -> Vec<Object<'_>> {
    let elements = elements(array).unwrap_or_default().into_iter();
    elements.filter_map(|element| Object::parse_str(element).ok()).collect()
}

/// The range of `part` in `text`.
///
/// # Panics
/// If `part` is not a slice of `text`.
pub fn range_of_slice(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr());
    let range = start.map(|start| start..start + part.len());
    range.filter(|range| range.end <= text.len()).expect("the part is a slice of the text")
}

/// Replaces the value at `value` in `text` by an array of `elements`. Every byte around the value
/// stays. If the value was an array, the new one has the same space between its elements.
pub fn replace_array<'a>(
    text: &str,
    value: Range<usize>,
    elements: impl IntoIterator<Item = &'a str>,
) -> String {
    let gaps = Gaps::parse(&text[value.clone()]);
    let mut written = String::with_capacity(text.len());
    written.push_str(&text[..value.start]);
    gaps.write(&mut written, elements.into_iter());
    written.push_str(&text[value.end..]);
    written
}

/// The white space in an array.
struct Gaps<'a> {
    opening: &'a str,
    /// Includes the comma.
    between: Cow<'a, str>,
    closing: &'a str,
}

impl<'a> Gaps<'a> {
    fn parse(array: &'a str) -> Self {
        let elements = elements(array).unwrap_or_default().into_iter();
        let ranges: Vec<Range<usize>> =
            elements.map(|element| range_of_slice(array, element)).collect();
        let [first, rest @ ..] = &*ranges else {
            return Self { opening: "", between: Cow::Borrowed(","), closing: "" };
        };
        let opening = &array[1..first.start];
        let between = match rest {
            [second, ..] => Cow::Borrowed(&array[first.end..second.start]),
            [] => Cow::Owned(format!(",{opening}")),
        };
        let last = rest.last().unwrap_or(first);
        Self { opening, between, closing: &array[last.end..array.len() - 1] }
    }

    fn write<'b>(&self, text: &mut String, elements: impl Iterator<Item = &'b str>) {
        text.push('[');
        let mut is_empty = true;
        for element in elements {
            text.push_str(if is_empty { self.opening } else { &self.between });
            text.push_str(element);
            is_empty = false;
        }
        if !is_empty {
            text.push_str(self.closing);
        }
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, value: &str, elements: &[&str]) -> String {
        let start = text.find(value).unwrap();
        replace_array(text, start..start + value.len(), elements.iter().copied())
    }

    #[test]
    fn other_elements_are_skipped() {
        let texts = |array| objects(array).iter().map(Object::to_text).collect::<Vec<_>>();
        assert_eq!(texts(r#"[{"a":1}, {"b":[2]}]"#), [r#"{"a":1}"#, r#"{"b":[2]}"#]);
        assert_eq!(texts(r#"[7, {"a":1}, null, [{"b":2}]]"#), [r#"{"a":1}"#]);
        assert!(texts(r#"{"a":1}"#).is_empty() && texts("[{").is_empty() && texts("").is_empty());
    }

    #[test]
    fn replaced_array_keeps_surrounding_bytes_and_spacing() {
        let text = "{ \"n\": 1e2,\n  \"input\": [\n    1,\n    2\n  ] }";
        let array = "[\n    1,\n    2\n  ]";
        let expected = "{ \"n\": 1e2,\n  \"input\": [\n    1,\n    3,\n    4\n  ] }";
        assert_eq!(rewritten(text, array, &["1", "3", "4"]), expected);
        assert_eq!(rewritten(text, array, &["1", "2"]), text);
    }

    #[test]
    fn single_element_sets_the_spacing() {
        assert_eq!(rewritten("[ 1 ]", "[ 1 ]", &["1", "2"]), "[ 1, 2 ]");
    }

    #[test]
    fn array_may_become_empty_or_be_filled() {
        assert_eq!(rewritten("[\n  1\n]", "[\n  1\n]", &[]), "[]");
        assert_eq!(rewritten("[ ]", "[ ]", &["1", "2"]), "[1,2]");
    }

    #[test]
    fn array_may_replace_another_value() {
        assert_eq!(rewritten(r#"{"input": "hi"}"#, r#""hi""#, &["1"]), r#"{"input": [1]}"#);
    }
}
