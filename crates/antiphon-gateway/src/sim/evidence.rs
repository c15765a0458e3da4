//! What a text says that can fill a property.

use std::ops::Range;

use serde_json::Value;

use super::numbers::numbers;
use super::text::{find_phrase, is_listed, quotes, without_leading, without_trailing, words};

/// The text that values are taken from: what was said to one tool, and all that was said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// From the tool's name to the next tool's.
    segment: &'a str,
    /// The segment without the words that only connect.
    tail: &'a str,
    whole: &'a str,
}

/// Words between a tool's name and what it is given.
const LEADING: &str = "tool function twice again with to on of for in using passing giving saying \
    say says that the this text message word words argument arguments input";

/// Words between what a tool is given and the next tool's name.
const TRAILING: &str = "and then also after that the tool function use using with via by call \
    calling run invoke ask twice please thanks";

/// Words between a property's name and its value.
const SEPARATING: &str = "is are was of to as set equals be";

/// Words between a property's value and the next property's name.
const CONNECTING: &str = "and with the my his her its please";

/// Words that end the name of a place.
const PAST_PLACE: &str = "and or in for at on using with then today tonight tomorrow now right \
    this next please like is as";

impl<'a> Evidence<'a> {
    /// What `whole` says to a tool that it names: `segment` follows the name.
    pub(super) fn after_name(segment: &'a str, whole: &'a str) -> Self {
        let tail = without_trailing(without_leading(segment, LEADING), TRAILING);
        let within = tail
            .strip_prefix('(')
            .and_then(|tail| tail.strip_suffix(')'));
        Self {
            segment,
            tail: within.unwrap_or(tail),
            whole: whole.trim(),
        }
    }

    /// What `whole` says to a tool whose subject it names: only a place in `segment` is for it.
    pub(super) fn after_subject(segment: &'a str, whole: &'a str) -> Self {
        Self {
            segment,
            tail: "",
            whole: whole.trim(),
        }
    }

    /// What a text says to anything.
    pub(super) fn whole(text: &'a str) -> Self {
        Self::after_subject("", text)
    }

    /// What was said to this tool, or all of it where nothing was.
    pub(super) fn text(&self) -> &'a str {
        if self.tail.is_empty() {
            self.whole
        } else {
            self.tail
        }
    }

    /// The JSON object that was said, if one was: arguments as they are to be.
    pub(super) fn json_object(&self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.tail).into_iter();
        values.next()?.ok().filter(Value::is_object)
    }

    /// The quoted text at `index`.
    pub(super) fn quote(&self, index: usize) -> Option<&'a str> {
        let text = self.text();
        quotes(text)
            .into_iter()
            .nth(index)
            .map(|quote| &text[quote])
    }

    /// The number at `index`, the last where there are fewer.
    pub(super) fn number(&self, index: usize) -> Option<&'a str> {
        let said = Some(numbers(self.tail)).filter(|said| !said.is_empty());
        let said = said.unwrap_or_else(|| numbers(self.whole));
        said.get(index).or(said.last()).copied()
    }

    /// The place that is spoken of: `in Paris`.
    pub(super) fn place(&self) -> Option<&'a str> {
        let quoted = || {
            quotes(self.tail)
                .into_iter()
                .next()
                .map(|quote| &self.tail[quote])
        };
        find_place(self.segment)
            .or_else(quoted)
            .or_else(|| place_at(self.tail))
            .or_else(|| find_place(self.whole))
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
        let next = siblings
            .iter()
            .filter_map(|sibling| find_phrase(value, sibling));
        let end = next
            .map(|next| next.start)
            .chain([clause_end(value)])
            .min()?;
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
    text.char_indices()
        .find(|&at| ends(at))
        .map_or(text.len(), |(at, _)| at)
}

/// The first place that `text` names after `in`, `for`, `at`, `near` or `of`; one with a capital
/// letter goes first.
pub(super) fn find_place(text: &str) -> Option<&str> {
    let prepositions = ["in", "for", "at", "near", "of"];
    let places: Vec<&str> = words(text)
        .iter()
        .filter(|word| prepositions.contains(&word.lower.as_str()))
        .filter_map(|word| place_at(&text[word.end..]))
        .collect();
    let capital = |place: &&&str| place.starts_with(char::is_uppercase);
    places.iter().find(capital).or(places.first()).copied()
}

/// The place that `text` begins with. A comma goes on with it where a capital letter follows:
/// `Paris, France`.
fn place_at(text: &str) -> Option<&str> {
    let text = without_leading(text, "the city town of");
    let mut end = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim().trim_end_matches(is_stop);
        if is_listed(bare, PAST_PLACE) {
            break;
        }
        let past = &text[end + word.len()..];
        end += word.len();
        let goes_on = word.trim().ends_with(',') && past.starts_with(char::is_uppercase);
        if word.trim().ends_with(is_stop) && !goes_on {
            break;
        }
    }
    Some(
        text[..end]
            .trim_end()
            .trim_end_matches(is_stop)
            .trim_matches(['"', '\'']),
    )
    .filter(|place| !place.is_empty())
}

fn is_stop(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '.' | '!' | '?')
}
