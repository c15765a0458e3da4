//! Answers that stop in the middle, for clients in other languages.

use std::str::FromStr;

use serde_json::Value;

use super::Reply;
use crate::Frame;

/// The place at which an answer of the default model stops until its peer disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Before the status and the headers.
    Head,
    /// After the first piece of reasoning.
    InReasoning,
    /// After the first piece of a call's arguments.
    InArguments,
    /// After the first complete call. In Chat Completions only `finish_reason` marks a call as
    /// complete.
    AfterCall,
    /// After the first piece of the message.
    InText,
}

impl FromStr for Hold {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "head" => Ok(Self::Head),
            "in_reasoning" => Ok(Self::InReasoning),
            "in_arguments" => Ok(Self::InArguments),
            "behind_call" => Ok(Self::AfterCall),
            "in_text" => Ok(Self::InText),
            _ => Err(()),
        }
    }
}

impl Hold {
    /// The stream up to the hold; all of it if it never reaches that place.
    pub fn stream(self, frames: Vec<Frame>) -> Reply {
        let place = self.place(&frames);
        let reply = Reply::sse(frames);
        match (self, place) {
            (Self::Head, _) => reply.withhold_head(),
            (_, Some(place)) => reply.hang_after(place + 1),
            (_, None) => reply,
        }
    }

    /// The answer that is not streamed, with its body withheld if the stream would reach the hold.
    pub fn whole(self, frames: &[Frame], reply: Reply) -> Reply {
        match (self, self.place(frames)) {
            (Self::Head, _) => reply.withhold_head(),
            (_, Some(_)) => reply.gated(),
            (_, None) => reply,
        }
    }

    fn place(self, frames: &[Frame]) -> Option<usize> {
        let events: Vec<Value> = frames.iter().map(|it| it.json().unwrap_or_default()).collect();
        match self {
            Self::Head => None,
            Self::InReasoning => events.iter().position(|event| has_piece(event, REASONING)),
            Self::InArguments => events.iter().position(|event| has_piece(event, ARGUMENTS)),
            Self::InText => events.iter().position(|event| has_piece(event, TEXT)),
            Self::AfterCall => {
                let begun = events.iter().position(|event| has_piece(event, ARGUMENTS))?;
                let ends = events[begun..].iter().position(ends_an_item)?;
                Some(begun + ends)
            }
        }
    }
}

/// The location of one kind of text in each API: an event type in the Responses API, a JSON pointer
/// in the others.
type Piece = (&'static str, [&'static str; 2]);

const REASONING: Piece = (
    "response.reasoning_summary_text.delta",
    ["/choices/0/delta/reasoning_content", "/delta/thinking"],
);
const ARGUMENTS: Piece = (
    "response.function_call_arguments.delta",
    ["/choices/0/delta/tool_calls/0/function/arguments", "/delta/partial_json"],
);
const TEXT: Piece = ("response.output_text.delta", ["/choices/0/delta/content", "/delta/text"]);

fn has_piece(event: &Value, (kind, pointers): Piece) -> bool {
    let is_text = |pointer: &str| {
        event.pointer(pointer).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    event["type"] == kind || pointers.into_iter().any(is_text)
}

fn ends_an_item(event: &Value) -> bool {
    let kind = &event["type"];
    kind == "response.output_item.done"
        || kind == "content_block_stop"
        || event["choices"][0]["finish_reason"].is_string()
}
