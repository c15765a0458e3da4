//! Strings, numbers and booleans: values of the text, adapted to a schema.

use serde_json::{Map, Value};

use super::evidence::{Evidence, MOST_SAID};
use super::numbers::{integer, number};
use super::text::words;

/// The maximum length to which a string is padded.
const LONGEST_FILLED: u64 = 1024;
/// The length of further strings after a document has used up its text.
const SCRAP: usize = 16;

/// Hands out the values of a text, each quote and each number once.
pub(super) struct Scalars<'a> {
    evidence: Evidence<'a>,
    quotes: usize,
    numbers: usize,
    /// The number of characters that the document may still use.
    left: usize,
}

/// The property of a value: its name, and all names of its object.
#[derive(Clone, Copy)]
pub(super) struct Property<'p> {
    pub(super) name: &'p str,
    pub(super) siblings: &'p [&'p str],
}

impl<'a> Scalars<'a> {
    pub(super) fn new(evidence: Evidence<'a>) -> Self {
        Self { evidence, quotes: 0, numbers: 0, left: MOST_SAID }
    }

    /// The option of an enumeration that the text names.
    pub(super) fn option<'o>(&self, options: &'o [Value]) -> Option<&'o Value> {
        options.iter().find(|option| match option {
            Value::String(option) => self.evidence.says(option),
            Value::Number(option) => self.evidence.says(&option.to_string()),
            _ => false,
        })
    }

    /// Whether the text names an optional property, or one of its options in words.
    pub(super) fn speaks_of(&self, property: Property<'_>, schema: &Value) -> bool {
        let options = schema["enum"].as_array().map_or(&[][..], Vec::as_slice);
        let mut words = options.iter().filter_map(Value::as_str);
        self.find_named(property).is_some() || words.any(|option| self.evidence.says(option))
    }

    /// An example of the format, otherwise the value in the text, cut or padded to the schema's
    /// lengths.
    pub(super) fn string(&mut self, schema: &Map<String, Value>, property: Property<'_>) -> Value {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let length = |key: &str| schema.get(key).and_then(Value::as_u64);
        let said = match text("format").and_then(example) {
            Some(example) => example,
            None => self.pick_text(property, text("description").unwrap_or_default()),
        };
        let most = length("maxLength").map_or(usize::MAX, saturated).min(self.left.max(SCRAP));
        let least = length("minLength").map_or(0, |least| saturated(least.min(LONGEST_FILLED)));
        let mut string: String = said.chars().take(most).collect();
        string.extend(std::iter::repeat_n('.', least.saturating_sub(string.chars().count())));
        self.left = self.left.saturating_sub(string.chars().count());
        string.into()
    }

    pub(super) fn integer(&mut self, schema: &Map<String, Value>, property: Property<'_>) -> Value {
        integer(self.pick_number(property), schema)
    }

    pub(super) fn number(&mut self, schema: &Map<String, Value>, property: Property<'_>) -> Value {
        number(self.pick_number(property), schema)
    }

    /// `true`, unless the text has another value for the property.
    pub(super) fn boolean(&self, property: Property<'_>) -> Value {
        let said = self.find_named(property).unwrap_or_default().to_lowercase();
        Value::Bool(!matches!(said.as_str(), "false" | "no" | "off"))
    }

    /// The value for a property. The sources, in order of precedence: the value after the
    /// property's name; a place, if the property is for one; the next quote; the whole text for the
    /// tool.
    fn pick_text(&mut self, property: Property<'_>, description: &str) -> &'a str {
        if let Some(named) = self.find_named(property) {
            return named;
        }
        let for_place = holds_place(property.name) || holds_place(description);
        if for_place && let Some(place) = self.evidence.place() {
            return place;
        }
        let quote = self.evidence.quote(self.quotes).or_else(|| self.evidence.quote(0));
        self.quotes += 1;
        quote.unwrap_or_else(|| self.evidence.text())
    }

    fn pick_number(&mut self, property: Property<'_>) -> Option<&'a str> {
        let named = self.find_named(property).and_then(|said| Evidence::whole(said).number(0));
        if named.is_some() {
            return named;
        }
        self.numbers += 1;
        self.evidence.number(self.numbers - 1)
    }

    fn find_named(&self, property: Property<'_>) -> Option<&'a str> {
        self.evidence.find_named(property.name, property.siblings)
    }
}

fn holds_place(text: &str) -> bool {
    const PLACES: &[&str] =
        &["city", "location", "place", "town", "country", "region", "destination"];
    words(text).iter().any(|word| PLACES.contains(&word.lower.as_str()))
}

/// A value of a string format.
fn example(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2000-01-01T00:00:00Z",
        "date" => "2000-01-01",
        "time" => "00:00:00Z",
        "duration" => "P1D",
        "email" | "idn-email" => "someone@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "iri" | "uri-reference" | "iri-reference" => "https://example.com/",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        _ => return None,
    })
}

fn saturated(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
