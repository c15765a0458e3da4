//! Finds the fault that a name or the text of an error means.

use super::{PAGES, StateError};

/// Parts of the errors about the form of an item, which no server with state adds to: the first
/// entry whose parts are all in a text names its fault.
const FORMS: &[(&[&str], &str)] = &[
    (&["output found with call_id"], "duplicate_output"),
    (&["Duplicate", "found with call_id"], "duplicate_call"),
    (&["could not be verified"], "foreign_content"),
    (&["invalid_encrypted_content"], "foreign_content"),
    (&["call_id", "string too long"], "overlong_call_id"),
    (&["id'", "string too long"], "overlong_id"),
    (&["call_id", "empty string"], "empty_call_id"),
    (&["id'", "empty string"], "malformed_id"),
    (&["Missing required parameter", "call_id"], "missing_call_id"),
    (&["Missing required parameter", "id'"], "missing_id"),
    (&["Expected an ID that"], "malformed_id"),
];

/// The name of the fault that this text is, or that it reports. The text may be part of a longer
/// one, such as a line of a log.
pub(super) fn recognize(text: &str) -> Option<&'static str> {
    let has_all = |parts: &[&str]| parts.iter().all(|part| text.contains(part));
    let form = || FORMS.iter().find(|(parts, _)| has_all(parts)).map(|(_, name)| *name);
    let state = || StateError::recognize("", text).map(|error| error.name());
    named(text).or_else(form).or_else(state)
}

/// The fault whose name is a word of this text.
fn named(text: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = text.split(|c| !is_part(c));
    words.find_map(|word| PAGES.iter().find(|page| page.name == word)).map(|page| page.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_every_page_is_recognized() {
        for page in PAGES {
            assert_eq!(recognize(page.error()), Some(page.name), "{}", page.error());
        }
    }

    #[test]
    fn headers_and_wrapped_errors_are_recognized() {
        let cases = [
            ("antiphon-repairs: unanswered_call=2", "unanswered_call"),
            (
                "BadRequestError: Error code: 400 - {'error': {'message': 'No tool output found \
                 for function call call_1.', 'type': 'invalid_request_error'}}",
                "unanswered_call",
            ),
            (
                "Duplicate item found with id fc_1. Remove duplicate items from your input and \
                 try again.",
                "duplicate_item",
            ),
            ("Response with id 'resp_1' not found", "previous_response_not_found"),
        ];
        for (text, name) in cases {
            assert_eq!(recognize(text), Some(name), "{text}");
        }
    }

    #[test]
    fn other_errors_are_not_recognized() {
        for text in ["", "Rate limit reached.", "Invalid 'model': empty string.", "duplicate"] {
            assert_eq!(recognize(text), None, "{text}");
        }
    }
}
