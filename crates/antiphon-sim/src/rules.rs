//! Dictated replies: `Reply with exactly: pong`.

use super::context::Context;
use super::item::text_of;
use super::text::find_phrase;

/// The phrases that introduce a dictated reply.
const OPENINGS: [&str; 3] = ["reply with", "respond with", "answer with"];

/// The words that may follow such a phrase, before the colon.
const ADVERBS: [&str; 3] = ["exactly", "only", "just"];

/// The reply that the latest instructions dictate, otherwise the one of the last user message.
pub(super) fn dictated(context: &Context) -> Option<String> {
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
        let behind = without_adverb(text[find_phrase(text, opening)?.end..].trim_start());
        let line = behind.lines().next()?;
        let reply = match line.strip_prefix(':') {
            Some(reply) => reply.trim(),
            None => word(line)?,
        };
        (!reply.is_empty()).then(|| reply.to_owned())
    })
}

fn without_adverb(text: &str) -> &str {
    let adverb = ADVERBS.iter().find_map(|adverb| text.strip_prefix(adverb));
    let behind = adverb.filter(|behind| behind.starts_with([':', ' ']));
    behind.map_or(text, str::trim_start)
}

/// The single word before the end of `sentence`, without quotes.
fn word(sentence: &str) -> Option<&str> {
    let end = sentence.find(['.', '!', '?']).unwrap_or(sentence.len());
    let word = sentence[..end].trim().trim_matches(['"', '\'', '`']);
    (!word.contains(char::is_whitespace)).then_some(word)
}
