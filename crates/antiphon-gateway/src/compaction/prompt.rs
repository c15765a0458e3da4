//! The messages for a summary: the request to the model, and the message that presents the summary.

use std::sync::Arc;

use antiphon::json::{Object, quote};
use antiphon::{Item, Role};

use crate::request::{ClientChanges, CompactionTrigger};
use crate::request::{Continues, CreateRequest, RequestMode};

/// The prompt for a summary, sent as a user message after the history.
const PROMPT: &str = include_str!("prompt.md");

/// The introduction of a summary for a model. The summary is a user message: every API accepts one
/// at any position, every model answers it, and a summary of tool outputs and user messages must
/// not have more authority than they have.
const INTRODUCTION: &str = "The conversation so far was compacted. Besides this message only the \
                            user's own messages were kept; what else was said and done is summed \
                            up here:\n\n";

/// The request fields that the summary request shares: the context of the conversation, the
/// reasoning settings, and the accounting fields. The summary has no format and no length limit
/// except the model's own.
const KEPT_FIELDS: [&str; 9] = [
    "model",
    "instructions",
    "tools",
    "reasoning",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
];

/// The message that presents a summary to the model.
pub(crate) fn summary_message(summary: &str) -> Item {
    message(&format!("{INTRODUCTION}{summary}"))
}

/// Whether an item presents a summary.
pub(crate) fn is_summary(item: &Item) -> bool {
    let content = item.object();
    let content = content.present("content").unwrap_or_default();
    item.head().role == Some(Role::User) && content.contains(INTRODUCTION.trim_end())
}

/// Creates the request for a summary, and the message with the prompt. The caller supplies the
/// items of the history.
pub(crate) fn summary_request(request: &CreateRequest) -> (CreateRequest, Item) {
    let original = request.object();
    let mut fields = Object::default();
    for key in KEPT_FIELDS {
        if let Some(raw) = original.present(key) {
            fields.set(key, raw.to_owned());
        }
    }
    if original.present("tools").is_some_and(|tools| tools != "[]") {
        fields.set("tool_choice", r#""none""#);
    }
    // If the history is too long even for the summary, its oldest part is dropped.
    fields.set("truncation", r#""auto""#);
    let summary = CreateRequest {
        fields: fields.to_text(),
        input: Vec::new(),
        model: request.model.clone(),
        stream: false,
        store: false,
        background: false,
        continues: Continues::Nothing,
        encrypted: false,
        compaction: CompactionTrigger::None,
        mode: RequestMode::Answer,
        lane: None,
        replay_style: request.replay_style,
        client_changes: ClientChanges::default(),
        derived_call_ids: Arc::default(),
        identity: request.identity,
    };
    (summary, message(PROMPT.trim_end()))
}

fn message(text: &str) -> Item {
    let text = quote(text);
    let message = format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}"#
    );
    Item::parse(message.into()).expect("the text above is an item")
}
