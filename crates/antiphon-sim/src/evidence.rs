//! The parts of a text that can fill a property.

use std::ops::Range;

use serde_json::Value;

use super::numbers::numbers;
use super::places::{find_place, place_at};
use super::text::{find_phrase, quotes, without_leading, without_trailing};

/// The text from which values are taken: the part for one tool, and the whole text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// The text between the tool's name and the next tool's name.
    segment: &'a str,
    /// The segment without connecting words.
    tail: &'a str,
    whole: &'a str,
    /// The selected place, if the segment has several.
    place: Option<&'a str>,
}

/// The maximum number of characters in one call. Without it, a text with many tools and properties
/// would be repeated for each of them.
pub(super) const MOST_SAID: usize = 100_000;

/// Words between a tool's name and its input.
const LEADING: &str = "tool function twice again back with to on of for in using passing giving \
    saying say says that the this text message word words argument arguments input";

/// Words between a tool's input and the next tool's name.
const TRAILING: &str = "and then also after that the tool function use using with via by call \
    calling run invoke ask twice please thanks";

/// Words between a property's name and its value.
const SEPARATING: &str = "is are was of to as set equals be";

/// Words between a property's value and the next property's name.
const CONNECTING: &str = "and with the my his her its please";

impl<'a> Evidence<'a> {
    /// The evidence for a tool that `whole` names: `segment` follows the name.
    pub(super) fn after_name(segment: &'a str, whole: &'a str) -> Self {
        let tail = without_trailing(without_leading(segment, LEADING), TRAILING);
        let within = tail.strip_prefix('(').and_then(|tail| tail.strip_suffix(')'));
        Self { segment, tail: within.unwrap_or(tail), whole: whole.trim(), place: None }
    }

    /// The evidence for a tool whose subject `whole` mentions: only a place in `segment` belongs to
    /// it.
    pub(super) fn after_subject(segment: &'a str, whole: &'a str) -> Self {
        Self { segment, tail: "", whole: whole.trim(), place: None }
    }

    /// The evidence of a whole text, for any tool.
    pub(super) fn whole(text: &'a str) -> Self {
        Self::after_subject("", text)
    }

    /// The same evidence for one of several places.
    pub(super) fn at(self, place: &'a str) -> Self {
        Self { place: Some(place), ..self }
    }

    /// The text for this tool; the whole text if that is empty.
    pub(super) fn text(&self) -> &'a str {
        if self.tail.is_empty() { self.whole } else { self.tail }
    }

    /// The JSON object in the text, if there is one. It has the complete arguments.
    pub(super) fn json_object(&self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.tail).into_iter();
        values.next()?.ok().filter(Value::is_object)
    }

    /// The quoted text at `index`.
    pub(super) fn quote(&self, index: usize) -> Option<&'a str> {
        let text = self.text();
        quotes(text).into_iter().nth(index).map(|quote| &text[quote])
    }

    /// The number at `index`; the last number if there are fewer.
    pub(super) fn number(&self, index: usize) -> Option<&'a str> {
        let said = Some(numbers(self.tail)).filter(|said| !said.is_empty());
        let said = said.unwrap_or_else(|| numbers(self.whole));
        said.get(index).or(said.last()).copied()
    }

    /// The place in the text, as in `in Paris`.
    pub(super) fn place(&self) -> Option<&'a str> {
        let quoted = || quotes(self.tail).into_iter().next().map(|quote| &self.tail[quote]);
        self.place
            .or_else(|| find_place(self.segment))
            .or_else(quoted)
            .or_else(|| place_at(self.tail).filter(|place| place.starts_with(char::is_uppercase)))
            .or_else(|| find_place(self.whole))
            .or_else(|| place_at(self.tail))
    }

    /// The value after a property's name: `limit 5`, `city: Paris`, `color is red`. It ends with
    /// its clause, or before the name of one of the `siblings`.
    pub(super) fn find_named(&self, name: &str, siblings: &[&str]) -> Option<&'a str> {
        let text = self.text();
        let after = &text[find_phrase(text, name)?.end..];
        if name.len() == 1 && !after.trim_start().starts_with([':', '=']) {
            return None;
        }
        let value = without_leading(after, SEPARATING);
        let begins = |quote: &Range<usize>| value[..quote.start].chars().count() == 1;
        if let Some(quote) = quotes(value).into_iter().next().filter(begins) {
            return Some(&value[quote]);
        }
        let next = siblings.iter().filter_map(|sibling| find_phrase(value, sibling));
        let end = next.map(|next| next.start).chain([clause_end(value)]).min()?;
        Some(without_trailing(&value[..end], CONNECTING)).filter(|value| !value.is_empty())
    }

    /// Whether the text contains `phrase`.
    pub(super) fn says(&self, phrase: &str) -> bool {
        find_phrase(self.text(), phrase).is_some()
    }
}

/// The end of the first clause of `text`: a comma, a semicolon, or the end of a line or sentence.
fn clause_end(text: &str) -> usize {
    let ends = |(at, c): (usize, char)| match c {
        ',' | ';' | '\n' => true,
        '.' | '!' | '?' => !text[at + 1..].starts_with(char::is_alphanumeric),
        _ => false,
    };
    text.char_indices().find(|&at| ends(at)).map_or(text.len(), |(at, _)| at)
}
