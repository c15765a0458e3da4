//! The words around a summary: how a model is asked for one, and how it is told of one.

use antiphon::json::{Object, quote};
use antiphon::{Item, Role};

use crate::compacted_prefix::INTRODUCTION;
use crate::request::CompactionTrigger;
use crate::request::{Continues, CreateRequest, Wants};

/// What a model is asked, as a user's message behind all that it is to sum up.
const PROMPT: &str = include_str!("prompt.md");

/// The fields of a request that its summary is asked with as well: what the model has to know to
/// understand the conversation, how it thinks, and who pays. Its answer has no form and no bound but
/// the model's own.
const KEPT: [&str; 9] = [
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

/// A summary as a model is given it.
pub(crate) fn as_message(summary: &str) -> Item {
    message(&format!("{INTRODUCTION}{summary}"))
}

/// Whether an item tells a model of a summary.
pub(crate) fn is_summary(item: &Item) -> bool {
    let content = item.object();
    let said = content.present("content").unwrap_or_default();
    item.head().role == Some(Role::User) && said.contains(INTRODUCTION.trim_end())
}

/// The request for a summary, in the place of another, and the message that asks for it. The items
/// to be summed up are given beside it.
pub(crate) fn request_for_summary(request: &CreateRequest) -> (CreateRequest, Item) {
    let asked = request.object();
    let mut fields = Object::default();
    for key in KEPT {
        if let Some(raw) = asked.present(key) {
            fields.set(key, raw.to_owned());
        }
    }
    if asked.present("tools").is_some_and(|tools| tools != "[]") {
        fields.set("tool_choice", r#""none""#);
    }
    // What is too long to be answered is too long to be summed up: its oldest part is not in it then.
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
        wants: Wants::Answer,
        lane: None,
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
