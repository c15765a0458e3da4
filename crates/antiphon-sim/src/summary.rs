//! The rule `Summarize this conversation`: the summary that replaces a compacted history.

use super::context::Context;
use super::item::{Item, text_of};

/// The first sentence of a compaction's summary. An empty line ends the introduction.
const INTRODUCTION: &str = "The conversation so far was compacted.";

/// Whether the text asks for a summary of the conversation.
pub(super) fn asks_for_summary(asked: &str) -> bool {
    asked.starts_with("Summarize this conversation")
}

/// One sentence for every answer of the assistant and for every tool output. User messages are not
/// part of it, because a compaction preserves them.
pub(super) fn summary(context: &Context) -> String {
    let answers = context.items.iter().filter_map(|item| match item {
        Item::Message { role, parts } if role == "assistant" => {
            Some(format!("I answered: {}", text_of(parts)))
        }
        _ => None,
    });
    let returned = context.returned().into_iter().map(|returned| returned.sentence());
    let sentences: Vec<String> = answers.chain(returned).map(ended).collect();
    match sentences.is_empty() {
        true => "Nothing was answered yet.".to_owned(),
        false => sentences.join(" "),
    }
}

/// The summary in the text, if the context ends with a compaction. The compacted history then did
/// not end with a user message.
pub(super) fn given(asked: &str) -> Option<&str> {
    Some(asked.strip_prefix(INTRODUCTION)?.split_once("\n\n")?.1)
}

fn ended(sentence: String) -> String {
    if sentence.ends_with(['.', '!', '?']) { sentence } else { format!("{sentence}.") }
}
