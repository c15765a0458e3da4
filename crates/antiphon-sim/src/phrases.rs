//! The requests that a user makes with a phrase: a dictated reply (`Reply with exactly: pong`),
//! counting (`Count from 1 to 5.`), the context as it was sent (`show context`), and the summary
//! that replaces a compacted history (`Summarize this conversation`).

use super::context::Context;
use super::item::{Item, describe, text_of};
use super::numbers::numbers;
use super::text::{find_phrase, shorten, words};

/// The phrases that introduce a dictated reply.
const OPENINGS: [&str; 3] = ["reply with", "respond with", "answer with"];

/// The words that may follow such a phrase, before the colon.
const ADVERBS: [&str; 3] = ["exactly", "only", "just"];

/// The reply that the latest instructions dictate, otherwise the one of the last user message.
pub(super) fn find_dictation(context: &Context) -> Option<String> {
    let guidance = context.guidance().into_iter().rev();
    let said = text_of(context.last_user_message());
    guidance.chain([said]).find_map(|text| dictation(&text))
}

/// Whether `sentence` is about the reply, and so states no fact.
pub(super) fn is_about_the_reply(sentence: &str) -> bool {
    let begins = |opening| find_phrase(sentence, opening).is_some_and(|found| found.start == 0);
    OPENINGS.iter().any(|opening| begins(opening))
}

/// The dictated reply. With a colon, it is the rest of the line. Without a colon, it must be a
/// single word: several words describe a reply.
fn dictation(text: &str) -> Option<String> {
    OPENINGS.iter().find_map(|opening| {
        let after = without_adverb(text[find_phrase(text, opening)?.end..].trim_start());
        let line = after.lines().next()?;
        let reply = match line.strip_prefix(':') {
            Some(reply) => reply.trim(),
            None => word(line)?,
        };
        (!reply.is_empty()).then(|| reply.to_owned())
    })
}

fn without_adverb(text: &str) -> &str {
    let adverb = ADVERBS.iter().find_map(|adverb| text.strip_prefix(adverb));
    let after = adverb.filter(|after| after.starts_with([':', ' ']));
    after.map_or(text, str::trim_start)
}

/// The single word before the end of `sentence`, without quotes.
fn word(sentence: &str) -> Option<&str> {
    let end = sentence.find(['.', '!', '?']).unwrap_or(sentence.len());
    let word = sentence[..end].trim().trim_matches(['"', '\'', '`']);
    (!word.contains(char::is_whitespace)).then_some(word)
}

/// The maximum amount of numbers in one answer.
const MOST: u64 = 1000;

/// `1, 2, 3, 4, 5`: the numbers between the two limits after `count`, inclusive, up or down. With
/// only one limit, the numbers start at 1. `None` if the text does not ask to count, or asks for
/// too many numbers.
pub(super) fn count(asked: &str) -> Option<String> {
    let after = &asked[find_phrase(asked, "count")?.end..];
    let clause = after.split(['.', '?', '!', '\n']).next()?;
    let limits: Vec<i64> =
        numbers(clause).iter().filter_map(|number| number.parse().ok()).collect();
    let (first, last) = match limits[..] {
        [last] => (1, last),
        [first, last] => (first, last),
        _ => return None,
    };
    if first.abs_diff(last) >= MOST {
        return None;
    }
    let counted: Vec<String> = match first <= last {
        true => (first..=last).map(|number| number.to_string()).collect(),
        false => (last..=first).rev().map(|number| number.to_string()).collect(),
    };
    Some(counted.join(", "))
}

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
        Item::Message { role, parts } => (format!("message {role}"), describe(parts)),
        Item::Call { kind, call_id, name, input } => {
            (format!("{kind} {name} ({call_id})"), input.clone())
        }
        Item::Output { kind, call_id, parts, .. } => {
            (format!("{kind} ({call_id})"), describe(parts))
        }
        Item::Other { kind, text } => (kind.clone(), text.clone()),
    };
    format!("{head}: {}", shorten(&text, SHOWN)).trim_end_matches([' ', ':']).to_owned()
}

/// The first sentence of a compaction's summary. An empty line ends the introduction.
const INTRODUCTION: &str = "The conversation so far was compacted.";

/// Whether the text asks for a summary of the conversation, in the words of the gateway or of a
/// coding agent.
pub(super) fn asks_for_summary(asked: &str) -> bool {
    asked.starts_with("Summarize this conversation")
        || asked.contains("Your task is to create a detailed summary of")
}

/// One sentence for every answer of the assistant and for every tool output. User messages are not
/// part of it, because a compaction preserves them.
pub(super) fn summarize(context: &Context) -> String {
    let answers = context.items.iter().filter_map(|item| match item {
        Item::Message { role, parts } if role == "assistant" => {
            Some(format!("I answered: {}", text_of(parts)))
        }
        _ => None,
    });
    let returned = context.returned().into_iter().map(|returned| returned.sentence());
    let sentences: Vec<String> = answers.chain(returned).map(with_full_stop).collect();
    match sentences.is_empty() {
        true => "Nothing was answered yet.".to_owned(),
        false => sentences.join(" "),
    }
}

/// The summary in the text, if the context ends with a compaction. The compacted history then did
/// not end with a user message.
pub(super) fn summary_in(asked: &str) -> Option<&str> {
    Some(asked.strip_prefix(INTRODUCTION)?.split_once("\n\n")?.1)
}

fn with_full_stop(sentence: String) -> String {
    if sentence.ends_with(['.', '!', '?']) { sentence } else { format!("{sentence}.") }
}
