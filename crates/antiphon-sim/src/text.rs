//! Words, quotes and phrases of a text, with their positions.

use std::borrow::Cow;
use std::ops::Range;

/// The tags of the notes that Claude Code adds to the messages of its user.
const NOTES: [&str; 7] = [
    "system-reminder",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
];

/// The text without the notes of a coding agent: everything between such a tag and its end.
pub(super) fn without_notes(text: &str) -> Cow<'_, str> {
    let mut said = Cow::Borrowed(text);
    for tag in NOTES {
        let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(from) = said.find(&begin)
            && let Some(length) = said[from..].find(&end)
        {
            let rest = said[from + length + end.len()..].trim_start();
            said = Cow::Owned(format!("{}{rest}", &said[..from]).trim_end().to_owned());
        }
    }
    said
}

/// One word: a run of letters and digits. A capital letter after a small one begins a new word.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) lower: String,
}

pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let joins = c.is_alphanumeric() && !(c.is_uppercase() && previous.is_lowercase());
        if let Some(from) = start.take_if(|_| !joins) {
            words.push(word(text, from..at));
        }
        if c.is_alphanumeric() && start.is_none() {
            start = Some(at);
        }
        previous = c;
    }
    words.extend(start.map(|from| word(text, from..text.len())));
    words
}

fn word(text: &str, range: Range<usize>) -> Word {
    Word { start: range.start, end: range.end, lower: text[range].to_lowercase() }
}

/// The range of `phrase` in `text`, as whole words. The case is ignored, and the words may be
/// joined by `_`, `__`, `-`, `.`, camel case or one space.
pub(super) fn find_phrase(text: &str, phrase: &str) -> Option<Range<usize>> {
    let (text_words, phrase_words) = (words(text), words(phrase));
    (0..text_words.len()).find_map(|at| phrase_at(text, &text_words[at..], &phrase_words))
}

/// The range of `phrase` if it begins with the first of `words`.
pub(super) fn phrase_at(text: &str, words: &[Word], phrase: &[Word]) -> Option<Range<usize>> {
    let found = words.get(..phrase.len())?;
    if found.iter().zip(phrase).any(|(word, wanted)| word.lower != wanted.lower) {
        return None;
    }
    let (start, end) = (found.first()?.start, found.last()?.end);
    let joins = |pair: &[Word]| &text[pair[0].end..pair[1].start];
    let joined =
        found.windows(2).all(|pair| matches!(joins(pair), "" | " " | "_" | "__" | "-" | "."));
    let alone = !text[..start].ends_with(is_name_char) && !text[end..].starts_with(is_name_char);
    (joined && alone).then_some(start..end)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The contents of quotes, in order. An apostrophe within a word opens no quote. A quote without an
/// end is ignored.
pub(super) fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Without a closing mark after one position, there is none after a later one.
    let mut unclosed = Vec::new();
    let mut from = 0;
    while let Some((inside, open)) = next_opening(text, from, &unclosed) {
        if let Some(end) = close_of(text, inside, open) {
            found.push(inside..end);
            from = end + text[end..].chars().next().map_or(0, char::len_utf8);
        } else {
            unclosed.push(open);
            from = inside;
        }
    }
    found
}

/// The start of the next quote's content, with the opening mark.
fn next_opening(text: &str, from: usize, unclosed: &[char]) -> Option<(usize, char)> {
    text[from..].char_indices().map(|(at, c)| (from + at, c)).find_map(|(at, c)| {
        let within_word = is_apostrophe(c) && text[..at].ends_with(char::is_alphanumeric);
        let opens = closing(c).is_some() && !within_word && !unclosed.contains(&c);
        opens.then_some((at + c.len_utf8(), c))
    })
}

fn close_of(text: &str, inside: usize, open: char) -> Option<usize> {
    let close = closing(open)?;
    let within_word = |end: usize| {
        is_apostrophe(open) && text[end + close.len_utf8()..].starts_with(char::is_alphanumeric)
    };
    text[inside..].match_indices(close).map(|(at, _)| inside + at).find(|&end| !within_word(end))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '‘')
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' | '\'' | '`' => Some(open),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

/// The pieces of `text`, each with one word and the space before it. A piece is the unit of one
/// delta and of one token. Their concatenation is `text`.
pub(super) fn chunks(text: &str) -> Vec<&str> {
    cut(text, |before, c| !before.is_whitespace() && c.is_whitespace())
}

/// The pieces of `text`, cut at the ends of words and marks: JSON has few spaces.
pub(super) fn fragments(text: &str) -> Vec<&str> {
    cut(text, |before, c| !before.is_alphanumeric() && c.is_alphanumeric())
}

fn cut(text: &str, ends: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| ends(before, c)) {
            pieces.push(&text[start..at]);
            start = at;
        }
        before = Some(c);
    }
    pieces.extend(Some(&text[start..]).filter(|last| !last.is_empty()));
    pieces
}

/// `text` on one line, cut after `limit` characters.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// `text` without the words of `idle` at its start, and without the marks between them.
pub(super) fn without_leading<'a>(text: &'a str, idle: &str) -> &'a str {
    let mut rest = after_marks(text);
    loop {
        let end = rest.find(is_mark).unwrap_or(rest.len());
        if end == 0 || !is_listed(&rest[..end], idle) {
            return rest;
        }
        rest = after_marks(&rest[end..]);
    }
}

/// `text` without the words of `idle` at its end, and without the marks between them.
pub(super) fn without_trailing<'a>(text: &'a str, idle: &str) -> &'a str {
    let mut rest = text.trim_end_matches(is_mark);
    loop {
        let last = rest.rsplit(is_mark).next().unwrap_or_default();
        if last.is_empty() || !is_listed(last, idle) {
            return rest;
        }
        rest = rest[..rest.len() - last.len()].trim_end_matches(is_mark);
    }
}

/// `text` without its leading marks. A point or a dash at the start of a word belongs to the word:
/// `.env`, `-5`.
fn after_marks(text: &str) -> &str {
    let begins_word = |c: char| matches!(c, '.' | '!' | '?' | '-');
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c| is_mark(c) && !begins_word(c));
        match rest.strip_prefix(begins_word) {
            Some(after) if after.is_empty() || after.starts_with(is_mark) => rest = after,
            _ => return rest,
        }
    }
}

/// Whether `list` contains `word`, regardless of case.
pub(super) fn is_listed(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed.eq_ignore_ascii_case(word))
}

fn is_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | '=' | '–' | '—')
}
