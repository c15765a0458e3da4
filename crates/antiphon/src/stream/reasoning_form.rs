//! The fields of a reasoning item that show the model's reasoning.

use crate::json::Object;

/// The form in which clients get the reasoning of an upstream whose API has no reasoning items:
/// Chat Completions, Anthropic Messages, or the AI SDK.
///
/// The Responses API has two lists for the text: `summary`, which clients show, and `content`, the
/// raw text, which most clients ignore. Reasoning of a Responses upstream keeps its own form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningForm {
    /// The text is in `summary`, in events `response.reasoning_summary_text.*`.
    #[default]
    Summary,
    /// The text is in `content`, in events `response.reasoning_text.*`.
    Content,
    /// The text is in both.
    Both,
}

impl ReasoningForm {
    /// The form for the answer to `request`, a request of the Responses API.
    ///
    /// A request can only ask for a summary, with `reasoning.summary`: the values of `include` have
    /// none for the raw text. `Content` therefore becomes `Both` if the request asks for a summary.
    #[must_use]
    pub fn for_request(self, request: &Object<'_>) -> Self {
        let wants_summary = || {
            let reasoning = request.object("reasoning");
            reasoning.is_some_and(|reasoning| reasoning.present("summary").is_some())
        };
        match self {
            Self::Content if wants_summary() => Self::Both,
            form => form,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReasoningForm::{self, Both, Content, Summary};
    use crate::json::Object;

    #[test]
    fn requested_summary_accompanies_raw_text() {
        for (request, form, expected) in [
            ("{}", Summary, Summary),
            (r#"{"reasoning":{"summary":"auto"}}"#, Summary, Summary),
            ("{}", Content, Content),
            (r#"{"reasoning":null}"#, Content, Content),
            (r#"{"reasoning":{"effort":"low","summary":null}}"#, Content, Content),
            (r#"{"reasoning":{"summary":"detailed"}}"#, Content, Both),
        ] {
            let request = Object::parse(request.as_bytes()).unwrap();
            assert_eq!(ReasoningForm::for_request(form, &request), expected);
        }
    }
}
