//! Answers of an Anthropic model, and faults in their streams.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::world::{INPUT, answer, block, start, stop, text, thinking, tool_use};

/// One block of an answer, with its text in deltas.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Text(Vec<String>),
    Thinking(Vec<String>, String),
    Redacted(String),
    Call(Vec<String>),
    Custom(Vec<String>),
    Search(Vec<String>),
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    vec("[a-z \\\\\"/\n\u{e9}\u{1f600}]{0,5}", 1..4)
}

fn message() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => pieces().prop_map(Said::Text),
        2 => (pieces(), "[A-Za-z0-9+/=]{1,9}").prop_map(|(text, sign)| Said::Thinking(text, sign)),
        1 => "[A-Za-z0-9]{1,9}".prop_map(Said::Redacted),
        3 => pieces().prop_map(Said::Call),
        1 => pieces().prop_map(Said::Custom),
        1 => pieces().prop_map(Said::Search),
    ]
}

/// Up to five blocks. All nonempty texts differ.
pub(crate) fn blocks() -> impl Strategy<Value = Vec<Said>> {
    vec(message(), 0..6)
}

impl Said {
    /// The block in a whole message.
    pub(crate) fn whole(&self, at: usize) -> Value {
        match self {
            Self::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
            Self::Thinking(pieces, signature) => {
                json!({"type": "thinking", "thinking": pieces.concat(), "signature": signature})
            }
            Self::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
            Self::Call(pieces) => call(at, "look", json!({"at": at, "text": pieces.concat()})),
            Self::Custom(pieces) => call(at, "shell", json!({"input": pieces.concat()})),
            Self::Search(pieces) => json!({"type": "server_tool_use", "name": "web_search",
                "id": format!("srvtoolu_{at}"), "input": {"query": pieces.concat()}}),
        }
    }

    /// Whether the block reaches clients; an empty text block does not.
    pub(crate) fn is_something(&self) -> bool {
        !matches!(self, Self::Text(pieces) if pieces.concat().is_empty())
    }

    /// The events of the block.
    fn events(&self, at: usize) -> Vec<Value> {
        let index = at as u64;
        let whole = self.whole(at);
        match self {
            Self::Text(pieces) => text(index, &borrowed(pieces)),
            Self::Thinking(pieces, signature) => thinking(index, &borrowed(pieces), signature),
            Self::Redacted(_) => vec![start(index, &whole), stop(index)],
            Self::Call(_) | Self::Custom(_) | Self::Search(_) => {
                let mut started = whole.clone();
                started["input"] = json!({});
                let input = whole["input"].to_string();
                let middle = (0..=input.len() / 2).rev();
                let middle = middle.into_iter().find(|at| input.is_char_boundary(*at)).unwrap();
                block(index, &started, INPUT, &["", &input[..middle], &input[middle..]])
            }
        }
    }
}

fn call(at: usize, name: &str, input: Value) -> Value {
    let mut call = tool_use(&format!("toolu_{at}"), name);
    call["input"] = input;
    call
}

fn borrowed(pieces: &[String]) -> Vec<&str> {
    pieces.iter().map(String::as_str).collect()
}

/// The stream of these blocks, in sequence or interleaved.
pub(crate) fn stream(message: &[Said], stop_reason: &str, side_by_side: bool) -> Vec<Value> {
    let events: Vec<_> =
        message.iter().enumerate().map(|(at, message)| message.events(at)).collect();
    if !side_by_side {
        return answer(stop_reason, &events);
    }
    let mut received: Vec<_> = events.into_iter().map(Vec::into_iter).collect();
    let mut mixed = Vec::new();
    while received.iter().any(|block| block.len() > 0) {
        mixed.extend(received.iter_mut().filter_map(Iterator::next));
    }
    answer(stop_reason, &[mixed])
}

/// A fault in a stream.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The stream ends here.
    Cut(Index),
    /// An event is repeated.
    Twice(Index),
    /// An event is missing.
    Lost(Index),
    /// An event arrives at another position.
    Moved(Index, Index),
    /// An error arrives here.
    Error(Index),
    /// All blocks have the same index.
    OneIndex,
    /// All calls have the same id.
    OneId,
}

pub(crate) fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let at = any::<Index>;
    let fault = prop_oneof![
        2 => at().prop_map(Fault::Cut),
        3 => at().prop_map(Fault::Twice),
        3 => at().prop_map(Fault::Lost),
        3 => (at(), at()).prop_map(|(from, to)| Fault::Moved(from, to)),
        1 => at().prop_map(Fault::Error),
        1 => Just(Fault::OneIndex),
        1 => Just(Fault::OneId),
    ];
    vec(fault, 0..4)
}

impl Fault {
    pub(crate) fn apply_fault(&self, events: &mut Vec<Value>) {
        if events.is_empty() {
            return;
        }
        let count = events.len();
        match self {
            Self::Cut(at) => events.truncate(at.index(count)),
            Self::Twice(at) => events.insert(at.index(count), events[at.index(count)].clone()),
            Self::Lost(at) => drop(events.remove(at.index(count))),
            Self::Moved(from, to) => {
                let event = events.remove(from.index(count));
                events.insert(to.index(count), event);
            }
            Self::Error(at) => events.insert(at.index(count), error()),
            Self::OneIndex => set(events, "/index", &json!(0)),
            Self::OneId => set(events, "/content_block/id", &json!("toolu_all")),
        }
    }
}

fn error() -> Value {
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
}

fn set(events: &mut [Value], place: &str, value: &Value) {
    for event in events {
        if let Some(field) = event.pointer_mut(place) {
            *field = value.clone();
        }
    }
}
