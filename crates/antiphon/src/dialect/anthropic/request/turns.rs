//! Messages in the order that Anthropic demands: user and assistant in turn, every call answered in
//! the very next message.

use super::block::{Block, write_all};
use super::report::Report;
use crate::dialect::request::Place;
use crate::json::{quote, unquote};

/// What a user says where a conversation begins with its assistant.
const OPENING: &str = r#""(The assistant speaks first.)""#;

/// The messages as they grow: whose message is the last.
///
/// ```text
///   none ── user ──> User ── assistant, call ──> Assistant
///     └───────────── assistant, call ────────────^  │
///                    User <── user, answered ───────┘
/// ```
///
/// Leaving an assistant's message writes the results of its calls first in the user's message that
/// follows, in the order of the calls.
#[derive(Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    open: OpenCalls,
}

struct Turn {
    role: Role,
    blocks: Vec<Block>,
    /// The calls of an assistant: they stand behind all else that it says.
    calls: Vec<Block>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// The results that the calls of the last message get.
#[derive(Default)]
struct OpenCalls {
    /// The position of the first of these calls among the items.
    first: usize,
    results: Vec<Block>,
}

impl Turns {
    /// Whether nobody has said anything yet.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The assistant says something.
    pub(super) fn assistant(&mut self, block: Block) {
        self.turn(Role::Assistant).blocks.push(block);
    }

    /// The assistant makes the call at `position`, which gets this result.
    pub(super) fn call(&mut self, position: usize, call: Block, result: Block) {
        self.turn(Role::Assistant).calls.push(call);
        if self.open.results.is_empty() {
            self.open.first = position;
        }
        self.open.results.push(result);
    }

    /// The user says something.
    pub(super) fn user(&mut self, block: Block, report: &mut Report) {
        self.leave_assistant(report);
        self.turn(Role::User).blocks.push(block);
    }

    /// The output of the call at `position` came. What the assistant says from now on is another
    /// message, where it said this call in its last.
    pub(super) fn answered(&mut self, position: usize, report: &mut Report) {
        if !self.open.results.is_empty() && self.open.first <= position {
            self.leave_assistant(report);
        }
    }

    /// All was said. The first message has to be a user's; a last one of the assistant may not end
    /// with white space ("final assistant content cannot end with trailing whitespace").
    pub(super) fn finish(&mut self, report: &mut Report) {
        self.leave_assistant(report);
        if self.turns.last().is_some_and(|turn| turn.role == Role::Assistant) {
            self.trim_end();
        }
        if self.turns.first().is_some_and(|turn| turn.role == Role::Assistant) {
            let blocks = vec![Block::Text(OPENING.to_owned())];
            self.turns.insert(0, Turn { role: Role::User, blocks, calls: Vec::new() });
            report.change(
                Place::field("input"),
                "Anthropic Messages begin with a user's, and one was put before the assistant's",
            );
        }
    }

    /// Whether the last assistant's message cannot stand in a request with a thinking budget: "a
    /// final `assistant` message must start with a thinking block (preceeding the lastmost set of
    /// `tool_use` and `tool_result` blocks)". Nor may such a request end with an assistant's
    /// message.
    pub(super) fn lacks_thinking_first(&self) -> bool {
        let ends_with_assistant =
            self.turns.last().is_some_and(|turn| turn.role == Role::Assistant);
        let last = self.turns.iter().rfind(|turn| turn.role == Role::Assistant);
        ends_with_assistant || last.is_some_and(Turn::calls_without_thinking_first)
    }

    pub(super) fn to_json(&self) -> String {
        let mut json = String::from("[");
        for (position, turn) in self.turns.iter().enumerate() {
            if position > 0 {
                json.push(',');
            }
            turn.write(&mut json);
        }
        json.push(']');
        json
    }

    fn turn(&mut self, role: Role) -> &mut Turn {
        if self.turns.last().is_none_or(|turn| turn.role != role) {
            self.turns.push(Turn { role, blocks: Vec::new(), calls: Vec::new() });
        }
        self.turns.last_mut().expect("a turn was opened")
    }

    fn leave_assistant(&mut self, report: &mut Report) {
        let Some(turn) = self.turns.last_mut().filter(|turn| turn.role == Role::Assistant) else {
            return;
        };
        turn.drop_last_thinking(report);
        if turn.is_empty() {
            self.turns.pop();
        }
        if !self.open.results.is_empty() {
            let results = std::mem::take(&mut self.open.results);
            self.turn(Role::User).blocks.extend(results);
        }
    }

    fn trim_end(&mut self) {
        let last = self.turns.last_mut().and_then(|turn| turn.blocks.last_mut());
        if let Some(Block::Text(raw)) = last
            && let Some(text) = unquote(raw)
            && text.ends_with(char::is_whitespace)
        {
            *raw = quote(text.trim_end());
        }
    }
}

impl Turn {
    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.calls.is_empty()
    }

    fn calls_without_thinking_first(&self) -> bool {
        !self.calls.is_empty() && !matches!(self.blocks.first(), Some(Block::Thinking { .. }))
    }

    /// "The final block in an assistant message cannot be `thinking`."
    fn drop_last_thinking(&mut self, report: &mut Report) {
        while self.calls.is_empty()
            && let Some(Block::Thinking { position, .. }) = self.blocks.last()
        {
            let why =
                "nothing follows it that was made with it, and Anthropic Messages refuse that";
            report.leave_out(Place::Item(*position, String::new()), why);
            self.blocks.pop();
        }
    }

    fn write(&self, json: &mut String) {
        json.push_str(match self.role {
            Role::User => r#"{"role":"user","content":"#,
            Role::Assistant => r#"{"role":"assistant","content":"#,
        });
        write_all(self.blocks.iter().chain(&self.calls), json);
        json.push('}');
    }
}
