//! Places in a text.

use super::text::{is_listed, without_leading, words};

/// Words that precede a place.
const PREPOSITIONS: &str = "in for at near of";

/// Words that end the name of a place.
const PAST_PLACE: &str = "and or in for at on using with then today tonight tomorrow now right \
    this next please like is as";

/// The first place after a preposition in `text`. A place with a capital letter takes precedence.
pub(super) fn find_place(text: &str) -> Option<&str> {
    find(text).map(|(place, _)| place)
}

/// That place and those joined to it: `in Paris and Rome`.
pub(super) fn find_places(text: &str) -> Vec<&str> {
    let mut places = Vec::new();
    let mut next = find(text);
    while let Some((place, rest)) = next {
        places.push(place);
        let joined = rest.trim_start_matches([',', ' ']).strip_prefix("and ");
        next = joined.filter(|joined| joined.starts_with(char::is_uppercase)).and_then(split);
    }
    places
}

/// The place at the start of `text`.
pub(super) fn place_at(text: &str) -> Option<&str> {
    split(text).map(|(place, _)| place)
}

fn find(text: &str) -> Option<(&str, &str)> {
    let places: Vec<(&str, &str)> = words(text)
        .iter()
        .filter(|word| is_listed(&word.lower, PREPOSITIONS))
        .filter_map(|word| split(&text[word.end..]))
        .collect();
    let capital = |(place, _): &&(&str, &str)| place.starts_with(char::is_uppercase);
    places.iter().find(capital).or(places.first()).copied()
}

/// Splits `text` into the place at its start and the rest. The place continues after a comma if a
/// capital letter follows: `Paris, France`.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = without_leading(text, "the city town of");
    let mut end = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim().trim_end_matches(is_stop);
        if is_listed(bare, PAST_PLACE) {
            break;
        }
        end += word.len();
        let goes_on = word.trim().ends_with(',') && text[end..].starts_with(char::is_uppercase);
        if word.ends_with('\n') || (word.trim().ends_with(is_stop) && !goes_on) {
            break;
        }
    }
    let place = text[..end].trim_end().trim_end_matches(is_stop).trim_matches(['"', '\'']);
    (!place.is_empty()).then(|| (place, &text[end..]))
}

fn is_stop(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '.' | '!' | '?')
}
