//! Answers to questions, from the facts in the context.

use std::collections::HashSet;

use super::context::{Context, Returned};
use super::item::{attachments, text_of};
use super::phrases::is_about_the_reply;
use super::text::{Word, is_listed, without_leading, without_trailing, words};

/// Phrases that introduce a question without a question mark.
const ASKING: &str =
    "what, who, whose, where, which, when, how, do you remember, tell me, remind me";

/// Words that mark a question about past events, as opposed to a request.
const PAST: &str = "did returned earlier previously";

/// Words that do not count as shared between a statement and a question.
const INSIGNIFICANT: &str = "\
    a about again all also am an and any are as at be by called can could did do does for from \
    had has have he her his how i if in is it its know m me my named no not now of on or our \
    please re remember remind s said say she so t tell that the their them there they this to \
    told us was we were what when where which who whose why will with would yes you your";

/// Words before a statement that do not belong to it.
const INTRODUCING: &str = "my our the and also but please remember note that this";

/// Verbs that make a clause a statement of a fact, including short forms after an apostrophe.
const STATING: &str = "is are am was were called named";

/// Whether `text` is a question.
pub(super) fn is_question(text: &str) -> bool {
    let lower: Vec<String> = words(text).into_iter().map(|word| word.lower).collect();
    let begins = |phrase: &str| phrase.split(' ').eq(lower.iter().take(phrase.split(' ').count()));
    text.trim_end().ends_with('?') || ASKING.split(", ").any(begins)
}

/// Whether `text` asks about past events, as in `What did the echo tool return?`. A tool name in
/// such a question does not ask for a call.
pub(super) fn asks_what_happened(text: &str) -> bool {
    is_question(text) && words(text).iter().any(|word| is_listed(&word.lower, PAST))
}

/// Quotes the statements of the context about `question`.
pub(super) fn recall(question: &str, context: &Context) -> String {
    let asked = significant(question);
    let told = told_by_user(context);
    let instructed: Vec<Sentence> =
        context.guidance().iter().flat_map(|text| sentences(text)).collect();
    let returned = context.returned();
    let returned = returned.iter().map(Returned::sentence).filter(|said| shares(said, &asked));
    let about = [
        ("You told me: ", about(&told, &asked)),
        ("My instructions say: ", about(&instructed, &asked)),
        ("", returned.collect()),
    ];
    let facts = told.into_iter().filter(|sentence| !sentence.facts.is_empty());
    let all = [("You told me: ", facts.map(|sentence| sentence.text).collect())];
    quoted(&about)
        .or_else(|| quoted(&all))
        .unwrap_or_else(|| "I have nothing about that in my context.".to_owned())
}

/// One sentence that is not a question.
struct Sentence {
    text: String,
    /// The facts in the sentence. Without any, the sentence is quoted whole.
    facts: Vec<String>,
}

/// The sentences of all user messages. The last message counts too: its facts precede its question.
fn told_by_user(context: &Context) -> Vec<Sentence> {
    let told = context.user_messages().flat_map(|message| {
        let shown = attachments(message)
            .into_iter()
            .map(|attachment| Sentence { text: attachment.to_owned(), facts: Vec::new() });
        shown.chain(sentences(&text_of(message))).collect::<Vec<_>>()
    });
    told.collect()
}

fn sentences(text: &str) -> Vec<Sentence> {
    let ends = |(at, c): &(usize, char)| match c {
        '\n' => true,
        '.' | '!' | '?' | ';' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
        _ => false,
    };
    let ends: Vec<usize> = text.char_indices().filter(ends).map(|(at, _)| at + 1).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts
        .zip(ends.iter().copied().chain([text.len()]))
        .map(|(start, end)| text[start..end].trim())
        .filter(|sentence| !is_question(sentence) && !is_about_the_reply(sentence))
        .map(|sentence| sentence.trim_end_matches(['.', '!', ';']))
        .filter(|sentence| !sentence.is_empty())
        .map(|sentence| Sentence { text: sentence.to_owned(), facts: facts(sentence) })
        .collect()
}

/// The clauses of `sentence` that state a fact, divided at commas and at `and`. A clause without
/// its own verb belongs to the one before it: `my cats are Tom and Kit`.
fn facts(sentence: &str) -> Vec<String> {
    let words = words(sentence);
    let commas = sentence.match_indices(',').map(|(at, comma)| at + comma.len());
    let ands = words.iter().filter(|word| word.lower == "and").map(|word| word.end);
    let mut divisions: Vec<usize> = std::iter::once(0).chain(commas).chain(ands).collect();
    divisions.sort_unstable();

    let stating = words.iter().filter(|word| is_stating(sentence, word));
    let clause_start =
        |word: &Word| divisions[divisions.partition_point(|at| *at <= word.start) - 1];
    let mut starts: Vec<usize> = stating.map(clause_start).collect();
    starts.dedup();

    let ends = starts.iter().skip(1).copied().chain([sentence.len()]);
    let clauses = starts.iter().copied().zip(ends).map(|(start, end)| &sentence[start..end]);
    let bare = |clause| without_trailing(without_leading(clause, INTRODUCING), "and").to_owned();
    clauses.map(bare).collect()
}

fn is_stating(sentence: &str, word: &Word) -> bool {
    let short = matches!(word.lower.as_str(), "s" | "m" | "re");
    let after_apostrophe = sentence[..word.start].ends_with(['\'', '’']);
    is_listed(&word.lower, STATING) || (short && after_apostrophe)
}

/// The statements that share a significant word with the question.
fn about(sentences: &[Sentence], asked: &HashSet<String>) -> Vec<String> {
    let statements = sentences.iter().flat_map(|sentence| match sentence.facts.as_slice() {
        [] => std::slice::from_ref(&sentence.text),
        facts => facts,
    });
    statements.filter(|statement| shares(statement, asked)).cloned().collect()
}

/// The non-empty groups, one sentence each.
fn quoted(groups: &[(&str, Vec<String>)]) -> Option<String> {
    let spoken: Vec<String> = groups
        .iter()
        .filter(|(_, statements)| !statements.is_empty())
        .map(|(introduction, statements)| format!("{introduction}{}.", statements.join("; ")))
        .collect();
    (!spoken.is_empty()).then(|| spoken.join(" "))
}

fn shares(statement: &str, asked: &HashSet<String>) -> bool {
    !significant(statement).is_disjoint(asked)
}

/// The significant words of a text, normalized: lower case, singular, American spelling.
fn significant(text: &str) -> HashSet<String> {
    words(text)
        .into_iter()
        .map(|word| word.lower)
        .filter(|word| !is_listed(word, INSIGNIFICANT))
        .map(|word| match word.strip_suffix('s') {
            Some(singular) if singular.len() > 2 && !singular.ends_with('s') => singular.to_owned(),
            _ => word,
        })
        .map(|word| if word.len() > 4 { word.replace("our", "or") } else { word })
        .collect()
}
