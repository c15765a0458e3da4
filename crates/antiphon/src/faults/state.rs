//! Errors of a server that stores state, for requests that do not fit its state.
//!
//! The texts are OpenAI's; Azure and Open Responses servers use the same ones. They may occur
//! anywhere in a message: proxies wrap them in texts of their own, and Azure's agents return them
//! as the failure of a response that has begun. Codes are more reliable, but rare: OpenAI has them
//! for two of these errors, and LM Studio for an unknown response, with a text of its own. vLLM,
//! `SGLang` and Llama Stack answer `Response with id ... not found` for an unknown response, with
//! status 404 or 400.

/// The reason why a request does not fit the state that a server stores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The server already has an item with this id.
    DuplicateItem(String),
    /// The server has a call without an output.
    UnansweredCall(String),
    /// The server has no call that this output answers.
    OutputWithoutCall(String),
    /// No item follows the reasoning.
    LoneReasoning(String),
    /// The item lacks the reasoning that the model produced it with.
    WithoutReasoning {
        /// The item's id.
        item: String,
        /// The reasoning's id.
        reasoning: String,
    },
    /// The server has no item with this id.
    UnknownItem(String),
    /// Another turn of the conversation is running.
    Locked,
    /// The server does not have the previous response.
    UnknownResponse,
}

impl StateError {
    /// Recognizes a state error by its `code` and `message`; `None` for any other error.
    pub fn recognize(code: &str, message: &str) -> Option<Self> {
        match code {
            "conversation_locked" => return Some(Self::Locked),
            "previous_response_not_found" => return Some(Self::UnknownResponse),
            _ => {}
        }
        let message = message.replace(QUOTES, "");
        SENTENCES.iter().find_map(|(sentence, meaning)| Some(meaning(&ids_in(&message, sentence)?)))
    }

    /// The error's name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DuplicateItem(_) => "duplicate_item",
            Self::UnansweredCall(_) => "unanswered_call",
            Self::OutputWithoutCall(_) => "output_without_call",
            Self::LoneReasoning(_) => "lone_reasoning",
            Self::WithoutReasoning { .. } => "missing_reasoning",
            Self::UnknownItem(_) => "unresolved_reference",
            Self::Locked => "conversation_locked",
            Self::UnknownResponse => "previous_response_not_found",
        }
    }
}

/// Quotes are ignored, because some servers omit them.
const QUOTES: [char; 3] = ['\'', '"', '`'];

/// A text without quotes, and the error that it means, given the ids in it. `{}` matches words, the
/// last of which is an id.
type Sentence = (&'static str, fn(&[&str]) -> StateError);

const SENTENCES: [Sentence; 9] = [
    ("Duplicate {} found with {}.", |ids| StateError::DuplicateItem(ids[1].into())),
    ("No tool output found for {}.", |ids| StateError::UnansweredCall(ids[0].into())),
    ("No tool call found for {}.", |ids| StateError::OutputWithoutCall(ids[0].into())),
    ("Item {} of type reasoning was provided without its required following item", |ids| {
        StateError::LoneReasoning(ids[0].into())
    }),
    ("Item {} of type {} was provided without its required reasoning item: {}.", |ids| {
        StateError::WithoutReasoning { item: ids[0].into(), reasoning: ids[2].into() }
    }),
    ("Item with id {} not found", |ids| StateError::UnknownItem(ids[0].into())),
    ("Previous response with id {} not found", |_| StateError::UnknownResponse),
    ("Response with id {} not found", |_| StateError::UnknownResponse),
    ("Another process is currently operating on this conversation", |_| StateError::Locked),
];

/// The ids at the places of `{}`, if `message` contains `sentence`.
fn ids_in<'a>(message: &'a str, sentence: &str) -> Option<Vec<&'a str>> {
    let mut pieces = sentence.split("{}");
    let (_, mut rest) = message.split_once(pieces.next()?)?;
    let next = |piece: &str| {
        let end = if piece == "." { end_of_sentence(rest) } else { rest.find(piece)? };
        let words = &rest[..end];
        rest = rest.get(end + piece.len()..).unwrap_or_default();
        words.split_whitespace().next_back()
    };
    pieces.map(next).collect()
}

/// The position of the full stop, or the end of the text. Ids may contain dots.
fn end_of_sentence(text: &str) -> usize {
    let ends = |at: &usize| !text[at + 1..].starts_with(char::is_alphanumeric);
    text.match_indices('.').map(|(at, _)| at).find(ends).unwrap_or(text.len())
}
