//! What a text says that can fill a property.

use std::ops::Range;

use serde_json::Value;

use super::numbers::numbers;
use super::places::{find_place, place_at};
use super::text::{find_phrase, quotes, without_leading, without_trailing};

/// The text that values are taken from: what was said to one tool, and all that was said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// From the tool's name to the next tool's.
    segment: &'a str,
    /// The segment without the words that only connect.
    tail: &'a str,
    whole: &'a str,
    /// Of several places in the segment the one that is meant.
    place: Option<&'a str>,
}

/// The most characters of text that one call is given: a text with many tools and properties would
/// otherwise be repeated for each of them.
pub(super) const MOST_SAID: usize = 100_000;

/// Words between a tool's name and what it is given.
const LEADING: &str = "tool function twice again back with to on of for in using passing giving \
    saying say says that the this text message word words argument arguments input";

/// Words between what a tool is given and the next tool's name.
const TRAILING: &str = "and then also after that the tool function use using with via by call \
    calling run invoke ask twice please thanks";

/// Words between a property's name and its value.
const SEPARATING: &str = "is are was of to as set equals be";

/// Words between a property's value and the next property's name.
const CONNECTING: &str = "and with the my his her its please";

impl<'a> Evidence<'a> {
    /// What `whole` says to a tool that it names: `segment` follows the name.
    pub(super) fn after_name(segment: &'a str, whole: &'a str) -> Self {
        let tail = without_trailing(without_leading(segment, LEADING), TRAILING);
        let within = tail.strip_prefix('(').and_then(|tail| tail.strip_suffix(')'));
        Self { segment, tail: within.unwrap_or(tail), whole: whole.trim(), place: None }
    }

    /// What `whole` says to a tool whose subject it names: only a place in `segment` is for it.
    pub(super) fn after_subject(segment: &'a str, whole: &'a str) -> Self {
        Self { segment, tail: "", whole: whole.trim(), place: None }
    }

    /// What a text says to anything.
    pub(super) fn whole(text: &'a str) -> Self {
        Self::after_subject("", text)
    }

    /// The same of one place among several.
    pub(super) fn at(self, place: &'a str) -> Self {
        Self { place: Some(place), ..self }
    }

    /// What was said to this tool, or all of it where nothing was.
    pub(super) fn text(&self) -> &'a str {
        if self.tail.is_empty() { self.whole } else { self.tail }
    }

    /// The JSON object that was said, if one was: arguments as they are to be.
    pub(super) fn json_object(&self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.tail).into_iter();
        values.next()?.ok().filter(Value::is_object)
    }

    /// The quoted text at `index`.
    pub(super) fn quote(&self, index: usize) -> Option<&'a str> {
        let text = self.text();
        quotes(text).into_iter().nth(index).map(|quote| &text[quote])
    }

    /// The number at `index`, the last where there are fewer.
    pub(super) fn number(&self, index: usize) -> Option<&'a str> {
        let said = Some(numbers(self.tail)).filter(|said| !said.is_empty());
        let said = said.unwrap_or_else(|| numbers(self.whole));
        said.get(index).or(said.last()).copied()
    }

    /// The place that is spoken of: `in Paris`.
    pub(super) fn place(&self) -> Option<&'a str> {
        let quoted = || quotes(self.tail).into_iter().next().map(|quote| &self.tail[quote]);
        self.place
            .or_else(|| find_place(self.segment))
            .or_else(quoted)
            .or_else(|| place_at(self.tail).filter(|place| place.starts_with(char::is_uppercase)))
            .or_else(|| find_place(self.whole))
            .or_else(|| place_at(self.tail))
    }

    /// The value said with a property's name: `limit 5`, `city: Paris`, `color is red`. It ends
    /// with its clause, or where one of the `siblings` is named.
    pub(super) fn named(&self, name: &str, siblings: &[&str]) -> Option<&'a str> {
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

    /// Whether any of it says `phrase`.
    pub(super) fn says(&self, phrase: &str) -> bool {
        find_phrase(self.text(), phrase).is_some()
    }
}

/// Where the clause that begins `text` ends: at a comma, a semicolon, a line or a sentence.
fn clause_end(text: &str) -> usize {
    let ends = |(at, c): (usize, char)| match c {
        ',' | ';' | '\n' => true,
        '.' | '!' | '?' => !text[at + 1..].starts_with(char::is_alphanumeric),
        _ => false,
    };
    text.char_indices().find(|&at| ends(at)).map_or(text.len(), |(at, _)| at)
}
