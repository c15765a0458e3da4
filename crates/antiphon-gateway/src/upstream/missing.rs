//! Distinguishes errors about missing objects from errors about missing paths.

use http::StatusCode;

use super::error::UpstreamError;

impl UpstreamError {
    /// Whether the server reports that it has no `noun` (`conversation`, `response`, `item`) with
    /// this id.
    ///
    /// Providers answer with status 404 and `Conversation with id '...' not found.`. Other servers
    /// use fewer words (`Response not found`) or only a code. If the server does not have the path,
    /// the error names only the path: `Invalid URL (GET /v1/conversations/...)`,
    /// `Cannot GET /v1/...`, `Not Found`.
    pub(crate) fn tells_of_no(&self, noun: &str, id: &str) -> bool {
        let Some(said) = self.said_with(StatusCode::NOT_FOUND) else { return false };
        let is_gone = GONE.iter().any(|gone| said.contains(gone));
        let is_noun = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()) == noun;
        names(&said, id) || (is_gone && words(&said).any(is_noun))
    }

    /// Whether the server rejects the format of this id. Such a server has the path.
    pub(crate) fn tells_of_no_id(&self, id: &str) -> bool {
        self.said_with(StatusCode::BAD_REQUEST).is_some_and(|said| names(&said, id))
    }

    /// The message and the code, in lower case, of a rejection with this status.
    fn said_with(&self, status: StatusCode) -> Option<String> {
        let Self::Refused(refused) = self else { return None };
        let error = refused.error();
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_lowercase();
        let said = || format!("{} {}", text("message"), text("code").replace('_', " "));
        (refused.status == status).then(said)
    }
}

fn names(said: &str, id: &str) -> bool {
    words(said).any(|word| word.contains(&id.to_lowercase()))
}

/// The words that are not paths.
fn words(said: &str) -> impl Iterator<Item = &str> {
    said.split_whitespace().filter(|word| !word.contains('/'))
}

/// Phrases in errors about missing objects.
const GONE: [&str; 4] = ["not found", "not exist", "no such", "unknown"];

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use serde_json::{Value, json};

    use super::*;
    use crate::refused::Refused;

    const ID: &str = "conv_00AB";

    fn refused(status: u16, error: &Value) -> UpstreamError {
        let body = json!({"error": error}).to_string().into();
        let status = StatusCode::from_u16(status).unwrap();
        UpstreamError::Refused(Box::new(Refused { status, headers: HeaderMap::new(), body }))
    }

    fn names(status: u16, error: &Value) -> bool {
        refused(status, error).tells_of_no("conversation", ID)
    }

    #[test]
    fn an_object_that_is_not_there_is_named_by_its_id_or_its_kind() {
        let errors = [
            json!({"message": "Conversation with id 'conv_00AB' not found."}),
            json!({"message": "Conversation conv_00AB could not be retrieved"}),
            json!({"message": "Conversation not found"}),
            json!({"message": "No such conversation."}),
            json!({"message": "Sorry.", "code": "conversation_not_found"}),
        ];
        for error in errors {
            assert!(names(404, &error), "{error}");
            assert!(!names(500, &error));
        }
    }

    #[test]
    fn a_path_that_is_not_there_is_no_object() {
        let errors = [
            json!({"message": "Invalid URL (GET /v1/conversations/conv_00AB)"}),
            json!({"message": "Cannot GET /v1/conversations/conv_00AB"}),
            json!({"message": "Unexpected endpoint or method. (GET /v1/conversations/conv_00AB)"}),
            json!({"message": "No handler found on route. Please double check your URL and consult \
                https://docs.example/conversation for more information."}),
            json!({"message": "Resource not found", "code": "404"}),
            json!({"message": "Not Found"}),
            json!({"message": "File Not Found", "type": "not_found_error", "code": 404}),
            json!({"message": "The upstream refused the request with status 404 Not Found."}),
            json!({}),
        ];
        for error in errors {
            assert!(!names(404, &error), "{error}");
        }
    }

    #[test]
    fn an_id_of_a_wrong_form_is_named() {
        let malformed =
            json!({"message": "Invalid conversation id 'conv_00AB', Malformed identifier."});
        assert!(refused(400, &malformed).tells_of_no_id(ID));
        assert!(!refused(401, &malformed).tells_of_no_id(ID));
        let other = json!({"message": "Missing required query parameter: api-version"});
        assert!(!refused(400, &other).tells_of_no_id(ID));
    }
}
