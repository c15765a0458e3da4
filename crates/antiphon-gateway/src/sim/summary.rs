//! Summing up a conversation, where the last user message asks for it.

use super::context::{Context, Returned};
use super::item::{Item, described};
use super::reply::ACKNOWLEDGEMENT;
use super::text::{find_phrase, shorten, words};

/// The most characters of one item that a summary repeats.
const REPEATED: usize = 400;

/// `Summarize this conversation`, `Give me a summary of our chat`.
pub(super) fn asks_for_summary(asked: &str) -> bool {
    let names = |wanted: &[&str]| words(asked).iter().any(|word| wanted.contains(&&*word.lower));
    names(&["summarize", "summarise", "summary", "summarized", "summarised"])
        && names(&["conversation", "chat", "discussion", "history", "context"])
}

/// What was said and what tools returned, a line each, the request for it left out. Users' words
/// stay out where it is asked not to repeat them, and acknowledgements, which repeat them too.
pub(super) fn sum_up(asked: &str, context: &Context) -> String {
    let repeats = find_phrase(asked, "do not repeat").is_none();
    let last = context.items.iter().rposition(is_users).unwrap_or(context.items.len());
    let lines = context.items[..last].iter().filter_map(|item| line(item, repeats));
    let returned = context.returned();
    let returned = returned.iter().map(Returned::sentence).map(|said| closed(&said));
    let lines: Vec<String> = lines.chain(returned).collect();
    match lines.is_empty() {
        true => "Nothing was done so far.".to_owned(),
        false => lines.join("\n"),
    }
}

fn line(item: &Item, repeats_users: bool) -> Option<String> {
    let Item::Message { role, parts } = item else { return None };
    let said = described(parts);
    let speaker = match role.as_str() {
        "user" if repeats_users => "You said",
        "assistant" if !said.starts_with(ACKNOWLEDGEMENT) => "I said",
        _ => return None,
    };
    (!said.is_empty()).then(|| closed(&format!("{speaker}: {said}")))
}

/// In one line, and as a sentence that has ended.
fn closed(said: &str) -> String {
    let line = shorten(said, REPEATED);
    let end = if line.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{line}{end}")
}

fn is_users(item: &Item) -> bool {
    matches!(item, Item::Message { role, .. } if role == "user")
}
