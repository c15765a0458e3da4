//! The faults of messages for which a server of Chat Completions rejects a request, and that its
//! items do not show.
//!
//! The items of two requests can be equal although a server accepts only one of them: an output may
//! come later than directly after the message with its call, and an answer may be empty. The
//! encoder writes neither.
//!
//! Source: the texts of OpenAI's errors.

use std::collections::HashSet;

use crate::dialect::ClientFault;
use crate::dialect::chat::sealed_details;
use crate::item::Kind;
use crate::json::Object;

/// OpenAI's limit for the id of a call, in characters.
const MAX_CALL_ID_LENGTH: usize = 40;

/// Finds the faults of a request, in the order of the messages.
pub(in crate::dialect) fn find_faults(request: &Object<'_>) -> Vec<ClientFault> {
    let mut finder = FaultFinder::default();
    for (index, message) in request.objects("messages").iter().enumerate() {
        match message.string("role").as_deref() {
            Some("tool") => finder.check_output(index, message),
            Some("assistant") => finder.check_answer(index, message),
            _ => finder.pending.clear(),
        }
    }
    finder.faults
}

#[derive(Default)]
struct FaultFinder {
    faults: Vec<ClientFault>,
    /// The ids of the calls of all messages so far.
    calls: HashSet<String>,
    /// The ids of the calls of the last assistant message, if only outputs followed it.
    pending: HashSet<String>,
}

impl FaultFinder {
    /// An output of an earlier call must follow the message with the call. The check of items finds
    /// outputs without a call, and repeated ones.
    fn check_output(&mut self, index: usize, message: &Object<'_>) {
        let id = message.string("tool_call_id").unwrap_or_default();
        if self.calls.contains(&*id) && !self.pending.contains(&*id) {
            let text = format!(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                 message with 'tool_calls', but messages[{index}] is not."
            );
            self.push(("misplaced_output", "moved"), Kind::FunctionCallOutput, text);
        }
    }

    fn check_answer(&mut self, index: usize, message: &Object<'_>) {
        self.pending.clear();
        let calls = message.objects("tool_calls");
        for call in &calls {
            let id = call.string("id").unwrap_or_default().into_owned();
            if id.chars().count() > MAX_CALL_ID_LENGTH {
                let text = format!(
                    "Invalid 'messages[{index}].tool_calls': a call id is longer than \
                     {MAX_CALL_ID_LENGTH} characters."
                );
                self.push(("long_call_id", "renamed"), Kind::FunctionCall, text);
            }
            self.calls.insert(id.clone());
            self.pending.insert(id);
        }
        self.check_content(index, message, calls.is_empty());
        let details = message.objects("reasoning_details");
        if details.iter().any(sealed_details::is_sealed) {
            let text = format!("The gateway sealed the reasoning of messages[{index}].");
            self.push(("foreign_reasoning", ""), Kind::Reasoning, text);
        }
    }

    /// An answer needs a content, calls or a refusal, and no list may be empty.
    fn check_content(&mut self, index: usize, message: &Object<'_>, has_no_calls: bool) {
        let content = message.present("content");
        let has_other = ["function_call", "refusal", "audio"]
            .iter()
            .any(|field| message.present(field).is_some());
        if content == Some("[]") || content.is_none() && has_no_calls && !has_other {
            let text = format!(
                "Invalid value for 'content': expected a string, got null, in messages[{index}]."
            );
            self.push(("empty_message", "filled"), Kind::Message, text);
        }
        if message.present("tool_calls") == Some("[]") {
            let text = format!("[] is too short - 'messages.{index}.tool_calls'");
            self.push(("empty_tool_calls", "dropped"), Kind::Message, text);
        }
    }

    /// Adds a fault. Without an action, the encoder reports the repair.
    fn push(&mut self, (name, action): (&'static str, &'static str), kind: Kind, message: String) {
        let action = Some(action).filter(|action| !action.is_empty());
        self.faults.push(ClientFault { name, action, kind, message });
    }
}
