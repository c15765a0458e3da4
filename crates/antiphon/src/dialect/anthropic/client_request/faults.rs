//! The faults of messages for which Anthropic rejects a request, and that its items do not show.
//!
//! The items of two requests can be equal although Anthropic accepts only one of them: a result may
//! come later than the message after its call, and a text may be empty. The encoder writes neither.
//!
//! Source: the texts of Anthropic's errors.

use std::collections::HashSet;

use super::field::{Field, Fields};
use super::refusal::{ID_PATTERN, unexpected_result};
use crate::dialect::{ClientFault, InvalidRequest, Seal};
use crate::item::Kind;
use crate::json::{Object, unquote};

/// Finds the faults of a request. The order is that of the messages. A request that cannot be
/// decoded has none.
pub(in crate::dialect) fn find_faults(request: &Object<'_>) -> Vec<ClientFault> {
    let fields = Fields::root(request);
    let mut finder = FaultFinder::default();
    let found = finder.read(&fields);
    if found.is_err() { Vec::new() } else { finder.faults }
}

#[derive(Default)]
struct FaultFinder {
    faults: Vec<ClientFault>,
    /// The ids of the calls in all messages so far, and of those with results.
    calls: HashSet<String>,
    answered: HashSet<String>,
    /// The calls of the message before.
    pending: Vec<String>,
}

/// The begin of the current turn: the first assistant message after the user's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnBegin {
    /// The assistant has not spoken.
    Open,
    WithThinking,
    WithoutThinking,
}

/// One message.
struct Message<'a> {
    index: usize,
    is_assistant: bool,
    content: Field<'a>,
    blocks: Vec<Block<'a>>,
}

struct Block<'a> {
    kind: String,
    fields: Fields<'a>,
}

impl FaultFinder {
    fn read(&mut self, request: &Fields<'_>) -> Result<(), InvalidRequest> {
        self.check_system(request)?;
        let messages = request.required("messages")?;
        let messages = messages.array()?;
        let mut turn = TurnBegin::Open;
        for (index, message) in messages.iter().enumerate() {
            let fields = message.object()?;
            let message = Message::read(index, &fields)?;
            let is_last = index + 1 == messages.len();
            self.check_message(&message, is_last);
            turn = message.begin_of_turn(turn);
        }
        self.check_request(request, turn)
    }

    fn check_system(&mut self, request: &Fields<'_>) -> Result<(), InvalidRequest> {
        let Some(system) = request.present("system").filter(|system| !system.is_text()) else {
            return Ok(());
        };
        for block in system.array()? {
            self.check_text("system", block.object()?.object());
        }
        Ok(())
    }

    fn check_message(&mut self, message: &Message<'_>, is_last: bool) {
        if message.index == 0 && message.is_assistant {
            let text = "messages: first message must use the \"user\" role";
            self.push(("assistant_first", ""), Kind::Message, text.to_owned());
        }
        if message.is_empty() && !(is_last && message.is_assistant) {
            let text = format!(
                "messages.{}: all messages must have non-empty content except for the optional \
                 final assistant message",
                message.index
            );
            self.push(("empty_text", "dropped"), Kind::Message, text);
        } else if message.is_blank_text() {
            let text = "messages: text content blocks must contain non-whitespace text";
            self.push(("empty_text", "dropped"), Kind::Message, text.to_owned());
        }
        for block in &message.blocks {
            self.check_block(block);
        }
        self.check_results(message);
        if message.is_assistant {
            self.check_calls(message);
            self.check_assistant(message, is_last);
        }
    }

    fn check_block(&mut self, block: &Block<'_>) {
        match &*block.kind {
            "text" => self.check_text("messages", block.fields.object()),
            "tool_result" => {
                for part in &block.fields.object().objects("content") {
                    self.check_text("messages", part);
                }
            }
            "thinking" => self.check_thinking(block),
            _ => {}
        }
    }

    fn check_text(&mut self, holder: &str, block: &Object<'_>) {
        let text = block.string("text").filter(|_| block.string("type").as_deref() == Some("text"));
        let Some(text) = text.filter(|text| text.trim().is_empty()) else { return };
        let text = match &*text {
            "" => format!("{holder}: text content blocks must be non-empty"),
            _ => format!("{holder}: text content blocks must contain non-whitespace text"),
        };
        self.push(("empty_text", "dropped"), Kind::Message, text);
    }

    /// A client may return the signature of another provider, which Anthropic did not issue.
    fn check_thinking(&mut self, block: &Block<'_>) {
        let signature = block.fields.object().string("signature").unwrap_or_default();
        if signature.is_empty() || Seal::parse(&signature).is_some() {
            let path = block.fields.path();
            let text = format!("{path}: Invalid `signature` in `thinking` block");
            self.push(("foreign_reasoning", ""), Kind::Reasoning, text);
        }
    }

    /// The results must be the first blocks of the message after their calls.
    fn check_results(&mut self, message: &Message<'_>) {
        let is_result = |block: &&Block<'_>| block.kind == "tool_result";
        let leading = message.blocks.iter().take_while(is_result).count();
        let pending = std::mem::take(&mut self.pending);
        for (number, block) in message.blocks.iter().enumerate().filter(|(_, it)| is_result(it)) {
            let id = block.text("tool_use_id");
            let is_misplaced = number >= leading || !pending.contains(&id);
            let is_first = self.answered.insert(id.clone());
            if is_misplaced && is_first && self.calls.contains(&id) {
                let text = unexpected_result(block.fields.path(), &id);
                self.push(("misplaced_output", "moved"), Kind::FunctionCallOutput, text);
            }
        }
    }

    fn check_calls(&mut self, message: &Message<'_>) {
        for block in message.blocks.iter().filter(|block| block.kind == "tool_use") {
            let id = block.text("id");
            let path = block.fields.path();
            let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            if id.is_empty() || !id.chars().all(is_valid) {
                let text = format!("{path}.tool_use.id: {ID_PATTERN}");
                self.push(("malformed_call_id", "renamed"), Kind::FunctionCall, text);
            }
            // The items show a call with the id of an earlier one.
            self.calls.insert(id.clone());
            self.answered.remove(&id);
            self.pending.push(id);
        }
    }

    fn check_assistant(&mut self, message: &Message<'_>, is_last: bool) {
        let last = message.blocks.last();
        if last.is_some_and(|block| matches!(&*block.kind, "thinking" | "redacted_thinking")) {
            let text = format!(
                "messages.{}: The final block in an assistant message cannot be `thinking`.",
                message.index
            );
            self.push(("lone_reasoning", ""), Kind::Reasoning, text);
        }
        if is_last && message.last_text().ends_with(char::is_whitespace) {
            let text = "messages: final assistant content cannot end with trailing whitespace";
            self.push(("trailing_whitespace", "trimmed"), Kind::Message, text.to_owned());
        }
    }

    fn check_request(
        &mut self,
        request: &Fields<'_>,
        turn: TurnBegin,
    ) -> Result<(), InvalidRequest> {
        let has_tools = request.present("tools").is_some_and(|tools| tools.raw() != "[]");
        let has_calls = !self.calls.is_empty() || !self.answered.is_empty();
        if has_calls && !has_tools {
            let text = "Requests which include `tool_use` or `tool_result` blocks must define \
                        tools.";
            self.push(("undefined_tools", "defined"), Kind::FunctionCall, text.to_owned());
        }
        let thinking = request.present("thinking").map(|thinking| thinking.object()).transpose()?;
        let kind = thinking.and_then(|thinking| {
            thinking.object().string("type").map(std::borrow::Cow::into_owned)
        });
        if kind.as_deref() == Some("enabled") && turn == TurnBegin::WithoutThinking {
            let text = "When `thinking` is enabled, a final `assistant` message must start with a \
                        thinking block.";
            self.push(("missing_reasoning", ""), Kind::Reasoning, text.to_owned());
        }
        Ok(())
    }

    fn push(&mut self, (name, action): (&'static str, &'static str), kind: Kind, message: String) {
        let action = Some(action).filter(|action| !action.is_empty());
        self.faults.push(ClientFault { name, action, kind, message });
    }
}

impl<'a> Message<'a> {
    fn read(index: usize, fields: &'a Fields<'_>) -> Result<Self, InvalidRequest> {
        let content = fields.required("content")?;
        let mut blocks = Vec::new();
        if !content.is_text() {
            for block in content.array()? {
                let fields = block.object()?;
                blocks.push(Block { kind: fields.kind()?, fields });
            }
        }
        let is_assistant = fields.object().string("role").as_deref() == Some("assistant");
        Ok(Self { index, is_assistant, content, blocks })
    }

    fn is_empty(&self) -> bool {
        self.blocks.is_empty() && (!self.content.is_text() || self.content.raw() == r#""""#)
    }

    fn is_blank_text(&self) -> bool {
        let text = unquote(self.content.raw()).filter(|text| !text.is_empty());
        text.is_some_and(|text| text.trim().is_empty())
    }

    /// The text at the end of the message.
    fn last_text(&self) -> String {
        match self.blocks.last() {
            Some(block) => block.text("text"),
            None => unquote(self.content.raw()).unwrap_or_default().into_owned(),
        }
    }

    /// The begin of the turn that this message belongs to. `before` is that of the message before.
    /// A user message without results begins a turn.
    fn begin_of_turn(&self, before: TurnBegin) -> TurnBegin {
        let has_result = self.blocks.iter().any(|block| block.kind == "tool_result");
        match (self.is_assistant, before) {
            (false, _) if !has_result => TurnBegin::Open,
            (true, TurnBegin::Open) => {
                let first = self.blocks.first().map(|block| &*block.kind);
                match first {
                    Some("thinking" | "redacted_thinking") => TurnBegin::WithThinking,
                    _ => TurnBegin::WithoutThinking,
                }
            }
            _ => before,
        }
    }
}

impl Block<'_> {
    /// A string field; empty if it is absent.
    fn text(&self, key: &str) -> String {
        self.fields.object().string(key).unwrap_or_default().into_owned()
    }
}
