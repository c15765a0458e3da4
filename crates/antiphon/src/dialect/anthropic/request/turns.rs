//! Orders messages as Anthropic requires: user and assistant messages alternate, and each message
//! with calls is followed by a message with their results.

use super::AnthropicOmissions;
use super::block::{Block, write_all};
use crate::dialect::request::RequestPath;
use crate::json::{quote, unquote};

/// The text of a user message that is inserted if the conversation begins with the assistant.
const OPENING: &str = r#""(The assistant speaks first.)""#;

/// The messages so far. The state is the role of the last message.
///
/// ```text
///   none ── user ──> User ── assistant, call ──> Assistant
///     └───────────── assistant, call ────────────^  │
///                    User <── user, output ─────────┘
/// ```
///
/// When an assistant message ends, the results of its calls become the first blocks of the next
/// user message, in the order of the calls.
#[derive(Default)]
pub(super) struct Turns {
    turns: Vec<Turn>,
    open: OpenCalls,
}

struct Turn {
    role: Role,
    blocks: Vec<Block>,
    /// The calls of an assistant message: its last blocks.
    calls: Vec<Block>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

/// The results for the calls of the last message.
#[derive(Default)]
struct OpenCalls {
    /// The item position of the first of these calls.
    first: usize,
    results: Vec<Block>,
}

impl Turns {
    /// Whether there are no messages yet.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Appends a block to the assistant's message.
    pub(super) fn assistant(&mut self, block: Block) {
        self.turn(Role::Assistant).blocks.push(block);
    }

    /// Appends the call at `position`, and stores its result for the next user message.
    pub(super) fn call(&mut self, position: usize, call: Block, result: Block) {
        self.turn(Role::Assistant).calls.push(call);
        if self.open.results.is_empty() {
            self.open.first = position;
        }
        self.open.results.push(result);
    }

    /// Appends a block to the user's message.
    pub(super) fn user(&mut self, block: Block, omissions: &mut AnthropicOmissions) {
        self.leave_assistant(omissions);
        self.turn(Role::User).blocks.push(block);
    }

    /// Records that the output of the call at `position` came. If the last assistant message has
    /// this call, later output of the model becomes a new message.
    pub(super) fn record_output(&mut self, position: usize, omissions: &mut AnthropicOmissions) {
        if !self.open.results.is_empty() && self.open.first <= position {
            self.leave_assistant(omissions);
        }
    }

    /// Ends the conversation. The first message must be from the user, and a final assistant
    /// message must not end with white space ("final assistant content cannot end with trailing
    /// whitespace").
    pub(super) fn finish(&mut self, omissions: &mut AnthropicOmissions) {
        self.leave_assistant(omissions);
        if self.turns.last().is_some_and(|turn| turn.role == Role::Assistant) {
            self.trim_end();
        }
        if self.turns.first().is_some_and(|turn| turn.role == Role::Assistant) {
            let blocks = vec![Block::Text(OPENING.to_owned())];
            self.turns.insert(0, Turn { role: Role::User, blocks, calls: Vec::new() });
            omissions.change(
                RequestPath::field("input"),
                "the Anthropic Messages API needs a user message first; one was inserted",
            );
        }
    }

    /// Whether Anthropic would reject a thinking budget because of the last assistant message: "a
    /// final `assistant` message must start with a thinking block (preceeding the lastmost set of
    /// `tool_use` and `tool_result` blocks)". A request with a budget cannot end with an assistant
    /// message either.
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

    fn leave_assistant(&mut self, omissions: &mut AnthropicOmissions) {
        let Some(turn) = self.turns.last_mut().filter(|turn| turn.role == Role::Assistant) else {
            return;
        };
        turn.drop_last_thinking(omissions);
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
    fn drop_last_thinking(&mut self, omissions: &mut AnthropicOmissions) {
        while self.calls.is_empty()
            && let Some(Block::Thinking { position, .. }) = self.blocks.last()
        {
            let why = "the Anthropic Messages API rejects thinking without output after it";
            omissions.leave_out(RequestPath::Item(*position, String::new()), why);
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
