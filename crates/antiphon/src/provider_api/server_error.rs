//! The errors of a server that stores state.

use bytes::Bytes;

use crate::faults::StateError;
use crate::json::Object;

/// The code and the message of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    code: String,
    message: String,
}

impl ServerError {
    /// Reads the body of an error; empty if it is not a JSON object.
    pub fn parse(body: &Bytes) -> Self {
        let Ok(fields) = Object::parse(body) else { return Self::default() };
        let error = fields.object("error");
        let text = |key: &str| {
            error.as_ref().unwrap_or(&fields).string(key).unwrap_or_default().into_owned()
        };
        Self { code: text("code"), message: text("message") }
    }

    /// The state error, if it is one.
    pub fn state_error(&self) -> Option<StateError> {
        StateError::recognize(&self.code, &self.message)
    }

    /// Whether the error means that the `noun` (`conversation`, `response`, `item`) with this id
    /// does not exist, and not that the path is unknown.
    ///
    /// For a missing object, providers name the id: `Conversation with id '...' not found.` Others
    /// name the kind (`Response not found`), or give only a code. For an unknown path they name
    /// only the path: `Invalid URL (GET /v1/conversations/...)`, `Cannot GET /v1/...`, `Not Found`.
    pub fn is_missing(&self, noun: &str, id: &str) -> bool {
        let text = self.text();
        let is_noun = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()) == noun;
        let is_gone = GONE.iter().any(|gone| text.contains(gone));
        self.has_id(id) || is_gone && words(&text).any(is_noun)
    }

    /// Whether the error contains this id, outside of a path.
    pub fn has_id(&self, id: &str) -> bool {
        words(&self.text()).any(|word| word.contains(&id.to_lowercase()))
    }

    fn text(&self) -> String {
        format!("{} {}", self.message, self.code.replace('_', " ")).to_lowercase()
    }
}

/// Whether an error with this status may depend on the server's items. Any error other than these
/// may show that its items differ from the known ones.
pub fn depends_on_state(status: u16) -> bool {
    !matches!(status, 401 | 403 | 413 | 429)
}

/// The phrases of servers for a missing object.
const GONE: [&str; 4] = ["not found", "not exist", "no such", "unknown"];

/// The words that are not paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| !word.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_missing(error: &str) -> bool {
        let body = format!(r#"{{"error":{error}}}"#);
        ServerError::parse(&body.into()).is_missing("conversation", "conv_00AB")
    }

    #[test]
    fn missing_object_is_named_by_id_or_kind() {
        for error in [
            r#"{"message":"Conversation with id 'conv_00AB' not found."}"#,
            r#"{"message":"Conversation conv_00AB could not be retrieved"}"#,
            r#"{"message":"Conversation not found"}"#,
            r#"{"message":"No such conversation."}"#,
            r#"{"message":"Sorry.","code":"conversation_not_found"}"#,
        ] {
            assert!(is_missing(error), "{error}");
        }
    }

    #[test]
    fn missing_path_is_no_missing_object() {
        for error in [
            r#"{"message":"Invalid URL (GET /v1/conversations/conv_00AB/items)"}"#,
            r#"{"message":"Cannot GET /v1/conversations/conv_00AB"}"#,
            r#"{"message":"Unexpected endpoint or method. (GET /v1/conversations/conv_00AB)"}"#,
            concat!(
                r#"{"message":"No handler found on route. Please double check your URL and "#,
                r#"consult https://docs.example/conversation for more information."}"#,
            ),
            r#"{"message":"Resource not found","code":"404"}"#,
            r#"{"message":"Not Found"}"#,
            r#"{"message":"File Not Found","type":"not_found_error","code":404}"#,
            r#"{"message":"The upstream refused the request with status 404 Not Found."}"#,
            r#"{"message":""}"#,
            "{}",
        ] {
            assert!(!is_missing(error), "{error}");
        }
    }
}
