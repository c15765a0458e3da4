//! The errors of a server.

use bytes::Bytes;

use crate::faults::StateError;
use crate::json::Object;

/// The code and the message of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    code: String,
    message: String,
}

impl Said {
    /// Reads the body of an error; empty if it is not a JSON object.
    pub(super) fn in_body(body: &Bytes) -> Self {
        let Ok(fields) = Object::parse(body) else { return Self::default() };
        fields.object("error").as_ref().map_or_else(|| Self::in_error(&fields), Self::in_error)
    }

    /// Reads an `error` object.
    pub(super) fn in_error(error: &Object<'_>) -> Self {
        let text = |key: &str| error.string(key).unwrap_or_default().into_owned();
        Self { code: text("code"), message: text("message") }
    }

    /// The state error, if it is one.
    pub(super) fn state_error(&self) -> Option<StateError> {
        StateError::recognize(&self.code, &self.message)
    }

    /// Whether the error means that the `noun` (`conversation`, `response`, `item`) with this id
    /// does not exist, and not that the path is unknown.
    ///
    /// For a missing object, providers name the id; others name the kind, or give only a code. For
    /// an unknown path they name only the path: `Invalid URL (GET /v1/conversations/...)`,
    /// `Cannot GET /v1/...`, `Not Found`.
    pub(super) fn tells_of_no(&self, noun: &str, id: &str) -> bool {
        let said = format!("{} {}", self.message, self.code.replace('_', " ")).to_lowercase();
        let id = id.to_lowercase();
        let mut words = said.split_whitespace().filter(|word| !word.contains('/'));
        let is_noun = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()) == noun;
        let is_gone = GONE.iter().any(|gone| said.contains(gone));
        words.any(|word| word.contains(&id) || is_gone && is_noun(word))
    }
}

/// The phrases of servers for a missing object.
const GONE: [&str; 4] = ["not found", "not exist", "no such", "unknown"];

#[cfg(test)]
mod tests {
    use super::*;

    fn no_conversation(message: &str) -> bool {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        Said::in_body(&body.into()).tells_of_no("conversation", "conv_00AB")
    }

    #[test]
    fn what_is_not_there_is_named_by_its_id_or_its_kind() {
        assert!(no_conversation("Conversation with id 'conv_00AB' not found."));
        assert!(no_conversation("No such conversation."));
    }

    #[test]
    fn a_path_that_is_not_there_says_nothing_of_what_it_names() {
        assert!(!no_conversation("Invalid URL (GET /v1/conversations/conv_00AB/items)"));
        assert!(!no_conversation("Not Found"));
        assert!(!no_conversation(""));
    }
}
