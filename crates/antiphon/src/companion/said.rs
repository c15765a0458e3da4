//! What a server says in an error.

use bytes::Bytes;

use crate::faults::StateError;
use crate::json::Object;

/// The code and the message of an error, wherever a server puts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    code: String,
    message: String,
}

impl Said {
    /// What the body of an error says; nothing where it is no JSON object.
    pub(super) fn in_body(body: &Bytes) -> Self {
        let Ok(fields) = Object::parse(body) else { return Self::default() };
        fields.object("error").as_ref().map_or_else(|| Self::in_error(&fields), Self::in_error)
    }

    /// What an `error` object says.
    pub(super) fn in_error(error: &Object<'_>) -> Self {
        let text = |key: &str| error.string(key).unwrap_or_default().into_owned();
        Self { code: text("code"), message: text("message") }
    }

    /// What it says of the state.
    pub(super) fn state_error(&self) -> Option<StateError> {
        StateError::told(&self.code, &self.message)
    }

    /// Whether it says that there is no `noun` (`conversation`, `response`, `item`) of this id, rather
    /// than no such path. Providers name the id, others the kind, or give only a code; where there is
    /// no such path, all that is named is that path: `Invalid URL (GET /v1/conversations/...)`,
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

/// How servers say that something is not there.
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
