//! Arrays: what is in them, and one in a larger text written anew with every byte around it kept.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::Object;

/// The objects in a raw array; what else stands in it is passed over, and what is no array has none.
pub(crate) fn objects(array: &str) -> Vec<Object<'_>> {
    // Where there is nothing but objects, which is nearly always, everything is read once.
    serde_json::from_str(array).unwrap_or_else(|_| objects_among_others(array))
}

fn objects_among_others(array: &str) -> Vec<Object<'_>> {
    let elements: Vec<&RawValue> = serde_json::from_str(array).unwrap_or_default();
    elements.into_iter().filter_map(|element| Object::of(element.get()).ok()).collect()
}

/// Where in `text` its part `part` stands.
///
/// # Panics
/// If `part` is not a slice of `text`.
pub fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr());
    let range = start.map(|start| start..start + part.len());
    range.filter(|range| range.end <= text.len()).expect("the part is a slice of the text")
}

/// `text` with an array of `elements` in the place of the value at `value`. Every byte around it
/// stays, and where the value was an array, so does the space that it had between its elements.
pub fn with_elements<'a>(
    text: &str,
    value: Range<usize>,
    elements: impl IntoIterator<Item = &'a str>,
) -> String {
    let gaps = Gaps::of(&text[value.clone()]);
    let mut written = String::with_capacity(text.len());
    written.push_str(&text[..value.start]);
    gaps.write(&mut written, elements.into_iter());
    written.push_str(&text[value.end..]);
    written
}

/// The space in an array.
struct Gaps<'a> {
    opening: &'a str,
    /// With the comma.
    between: Cow<'a, str>,
    closing: &'a str,
}

impl<'a> Gaps<'a> {
    fn of(array: &'a str) -> Self {
        let elements: Vec<&RawValue> = serde_json::from_str(array).unwrap_or_default();
        let ranges = elements.iter().map(|element| range_in(array, element.get()));
        let ranges: Vec<Range<usize>> = ranges.collect();
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
        with_elements(text, start..start + value.len(), elements.iter().copied())
    }

    #[test]
    fn objects_are_found_among_other_elements() {
        let texts = |array| objects(array).iter().map(Object::to_text).collect::<Vec<_>>();
        assert_eq!(texts(r#"[{"a":1}, {"b":[2]}]"#), [r#"{"a":1}"#, r#"{"b":[2]}"#]);
        assert_eq!(texts(r#"[7, {"a":1}, null, [{"b":2}]]"#), [r#"{"a":1}"#]);
        assert!(texts(r#"{"a":1}"#).is_empty() && texts("[{").is_empty() && texts("").is_empty());
    }

    #[test]
    fn the_space_of_the_array_and_all_around_it_stay() {
        let text = "{ \"n\": 1e2,\n  \"input\": [\n    1,\n    2\n  ] }";
        let array = "[\n    1,\n    2\n  ]";
        let expected = "{ \"n\": 1e2,\n  \"input\": [\n    1,\n    3,\n    4\n  ] }";
        assert_eq!(rewritten(text, array, &["1", "3", "4"]), expected);
        assert_eq!(rewritten(text, array, &["1", "2"]), text);
    }

    #[test]
    fn an_array_of_one_element_tells_how_several_stand() {
        assert_eq!(rewritten("[ 1 ]", "[ 1 ]", &["1", "2"]), "[ 1, 2 ]");
    }

    #[test]
    fn an_array_may_become_empty_or_have_been() {
        assert_eq!(rewritten("[\n  1\n]", "[\n  1\n]", &[]), "[]");
        assert_eq!(rewritten("[ ]", "[ ]", &["1", "2"]), "[1,2]");
    }

    #[test]
    fn an_array_may_take_the_place_of_another_value() {
        assert_eq!(rewritten(r#"{"input": "hi"}"#, r#""hi""#, &["1"]), r#"{"input": [1]}"#);
    }
}
