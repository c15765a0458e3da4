//! The rule `Summarize this conversation`: what stands for a history that is compacted.

use super::context::Context;
use super::item::{Item, text_of};
use crate::compacted_prefix::INTRODUCTION;

/// Whether the text asks to sum up what was said and done.
pub(super) fn asks_for_summary(asked: &str) -> bool {
    asked.starts_with("Summarize this conversation")
}

/// A sentence for every answer of the assistant and for all that a tool returned. What the user said
/// stays as it is.
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

/// The summary that the text is, where a compaction ends the context: what it stands for ended in
/// something else than a word of the user.
pub(super) fn given(asked: &str) -> Option<&str> {
    asked.strip_prefix(INTRODUCTION)
}

fn ended(sentence: String) -> String {
    if sentence.ends_with(['.', '!', '?']) { sentence } else { format!("{sentence}.") }
}
