//! Anthropic's errors for faults of the items that a request became.
//!
//! Source: the texts of Anthropic's errors.

use std::collections::HashSet;

use crate::faults::{Fault, Refusal};
use crate::json::Object;

/// Rewrites an error about an item as Anthropic's error about the messages of the request. Errors
/// without a counterpart stay the same.
pub(in crate::dialect) fn reword(request: &Object<'_>, refusal: Refusal) -> Refusal {
    let messages = Messages::read(request);
    let message = match &*refusal.fault {
        Fault::UnansweredCall { call_id, .. } => messages.unanswered(call_id.as_str()),
        Fault::OutputWithoutCall { call_id: Some(call_id), .. } => {
            let place = messages.result_without_call(call_id.as_str());
            unexpected_result(&place, call_id.as_str())
        }
        Fault::DuplicateCall { call_id, .. } => {
            let place = messages.second(TOOL_USE, call_id.as_str());
            format!("{place}: `tool_use` ids must be unique")
        }
        Fault::DuplicateOutput { call_id, .. } => {
            let (id, place) = (call_id.as_str(), messages.second(TOOL_RESULT, call_id.as_str()));
            format!(
                "{place}: each tool_use must have a single result. Found multiple `tool_result` \
                 blocks with id: {id}"
            )
        }
        Fault::OverlongCallId { call_id, .. } => {
            let place = messages.first(TOOL_USE, call_id.as_str());
            format!("{place}.tool_use.id: String should have at most 64 characters")
        }
        Fault::EmptyCallId { kind } => {
            let block = if kind.call().is_some() { TOOL_RESULT } else { TOOL_USE };
            let place = messages.first(block, "");
            format!("{place}.{}.{}: {ID_PATTERN}", block.kind, block.id)
        }
        Fault::ForeignContent { .. } => {
            "messages: Invalid `signature` in `thinking` block".to_owned()
        }
        _ => return refusal,
    };
    Refusal { status: 400, code: None, param: None, message, ..refusal }
}

/// The error for an id with other characters than Anthropic accepts.
pub(super) const ID_PATTERN: &str = "String should match pattern '^[a-zA-Z0-9_-]+$'";

/// The error for the result at this place.
pub(super) fn unexpected_result(place: &str, id: &str) -> String {
    format!(
        "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
         block must have a corresponding `tool_use` block in the previous message."
    )
}

/// A kind of block with the id of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BlockKind {
    kind: &'static str,
    /// The field with the id.
    id: &'static str,
}

const TOOL_USE: BlockKind = BlockKind { kind: "tool_use", id: "id" };
const TOOL_RESULT: BlockKind = BlockKind { kind: "tool_result", id: "tool_use_id" };

/// The blocks of calls and results in the messages of a request.
struct Messages(Vec<Block>);

struct Block {
    kind: BlockKind,
    id: String,
    /// The position of the message, and of the block in it.
    message: usize,
    position: usize,
    /// Whether all blocks of the message before this one are results.
    is_leading: bool,
}

impl Messages {
    fn read(request: &Object<'_>) -> Self {
        let mut blocks = Vec::new();
        for (message, fields) in request.objects("messages").iter().enumerate() {
            let mut is_leading = true;
            for (position, block) in fields.objects("content").iter().enumerate() {
                let kind = block.string("type").unwrap_or_default();
                is_leading &= kind == TOOL_RESULT.kind;
                let kind = [TOOL_USE, TOOL_RESULT].into_iter().find(|it| it.kind == kind);
                if let Some(kind) = kind {
                    let id = block.string(kind.id).unwrap_or_default().into_owned();
                    blocks.push(Block { kind, id, message, position, is_leading });
                }
            }
        }
        Self(blocks)
    }

    fn with_id(&self, kind: BlockKind, id: &str) -> impl Iterator<Item = &Block> {
        self.0.iter().filter(move |block| block.kind == kind && block.id == id)
    }

    fn first(&self, kind: BlockKind, id: &str) -> String {
        place(self.with_id(kind, id).next())
    }

    fn second(&self, kind: BlockKind, id: &str) -> String {
        place(self.with_id(kind, id).nth(1).or_else(|| self.with_id(kind, id).next()))
    }

    fn result_without_call(&self, id: &str) -> String {
        let call = self.0.iter().position(|block| block.kind == TOOL_USE && block.id == id);
        let before = &self.0[..call.unwrap_or(self.0.len())];
        place(before.iter().find(|block| block.kind == TOOL_RESULT && block.id == id))
    }

    /// The error for a call without a result at the begin of the next message. It names all such
    /// calls of the message.
    fn unanswered(&self, id: &str) -> String {
        let unanswered = |call: &&Block| {
            let is_answer = |block: &&Block| block.message == call.message + 1 && block.is_leading;
            !self.with_id(TOOL_RESULT, &call.id).any(|block| is_answer(&block))
        };
        let call = self.with_id(TOOL_USE, id).find(unanswered);
        let (place, ids) = match call {
            None => ("messages".to_owned(), vec![id]),
            Some(call) => {
                let is_same = |block: &&Block| block.message == call.message;
                let calls = self.0.iter().filter(|block| block.kind == TOOL_USE);
                let calls = calls.filter(is_same).filter(unanswered);
                let mut seen = HashSet::new();
                let ids = calls.map(|call| &*call.id).filter(|id| seen.insert(*id)).collect();
                (format!("messages.{}", call.message), ids)
            }
        };
        format!(
            "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: \
             {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
             message.",
            ids.join(", ")
        )
    }
}

/// The path of a block. A block that is stored, and not in the request, has only `messages`.
fn place(block: Option<&Block>) -> String {
    match block {
        Some(block) => format!("messages.{}.content.{}", block.message, block.position),
        None => "messages".to_owned(),
    }
}
