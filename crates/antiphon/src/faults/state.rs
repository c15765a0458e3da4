//! What a server that keeps state says of a request that does not fit what it keeps.
//!
//! The sentences are OpenAI's, which Azure and Open Responses servers repeat. They are looked for anywhere
//! in a message: servers that stand between wrap them in words of their own, and Azure's agents tell them
//! as the failure of a response that has begun. Codes are surer, where there are any: OpenAI has them for
//! two of these errors, LM Studio for a lost response, whose sentence is its own. For a lost response vLLM,
//! `SGLang` and Llama Stack say `Response with id ... not found`, with status 404 or 400.

/// Why a request does not fit what a server keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// It holds an item of this id already.
    DuplicateItem(String),
    /// It holds a call that nobody answered.
    UnansweredCall(String),
    /// It holds no call that this output answers.
    OutputWithoutCall(String),
    /// Reasoning that nothing follows.
    LoneReasoning(String),
    /// An item without the reasoning that it was made with.
    WithoutReasoning {
        /// The item.
        item: String,
        /// The reasoning.
        reasoning: String,
    },
    /// It holds no item of this id.
    UnknownItem(String),
    /// A turn of the conversation is open.
    Locked,
    /// It has no such response to go on from.
    UnknownResponse,
}

impl StateError {
    /// What the code and the message of an error say of the state; `None` where it is no such error.
    pub fn told(code: &str, message: &str) -> Option<Self> {
        match code {
            "conversation_locked" => return Some(Self::Locked),
            "previous_response_not_found" => return Some(Self::UnknownResponse),
            _ => {}
        }
        let message = message.replace(QUOTES, "");
        SENTENCES.iter().find_map(|(sentence, meaning)| Some(meaning(&ids_in(&message, sentence)?)))
    }

    /// What was refused, as reports name it.
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

/// Some servers leave them out.
const QUOTES: [char; 3] = ['\'', '"', '`'];

/// A sentence without its quotes, and what it means with these ids. `{}` stands for words, the last of
/// which is an id.
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

/// The ids that `message` has where `sentence` has `{}`, if it says that sentence.
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

/// Where the full stop is, or the end. Ids may have dots in them.
fn end_of_sentence(text: &str) -> usize {
    let ends = |at: &usize| !text[at + 1..].starts_with(char::is_alphanumeric);
    text.match_indices('.').map(|(at, _)| at).find(ends).unwrap_or(text.len())
}
