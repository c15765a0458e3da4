//! The rule `show context`: shows the context that a gateway really sent.

use super::context::Context;
use super::item::{Item, described};
use super::text::{shorten, words};

/// The maximum number of characters per item.
const SHOWN: usize = 80;

/// Whether the text asks for the context: `show context`, `Show me your whole context!`
pub(super) fn asks_for_context(asked: &str) -> bool {
    let words = words(asked);
    let mut rest = words.iter().map(|word| word.lower.as_str()).skip_while(|word| *word != "show");
    let between = ["me", "us", "the", "your", "my", "whole", "full"];
    rest.next().is_some() && rest.find(|word| !between.contains(word)) == Some("context")
}

/// One line for the instructions, if there are any, and one for each item.
pub(super) fn show(context: &Context) -> String {
    let instructions =
        context.instructions.iter().map(|text| format!("instructions: {}", shorten(text, SHOWN)));
    let items =
        context.items.iter().enumerate().map(|(index, item)| format!("{index}. {}", line(item)));
    instructions.chain(items).collect::<Vec<_>>().join("\n")
}

fn line(item: &Item) -> String {
    let (head, text) = match item {
        Item::Message { role, parts } => (format!("message {role}"), described(parts)),
        Item::Call { kind, call_id, name, input } => {
            (format!("{kind} {name} ({call_id})"), input.clone())
        }
        Item::Output { kind, call_id, parts, .. } => {
            (format!("{kind} ({call_id})"), described(parts))
        }
        Item::Other { kind, text } => (kind.clone(), text.clone()),
    };
    format!("{head}: {}", shorten(&text, SHOWN)).trim_end_matches([' ', ':']).to_owned()
}
