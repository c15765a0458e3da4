//! One streamed text of an item.

use std::borrow::Cow;

use super::super::emitter::ItemEmitter;
use super::super::fields::Field;
use super::super::heard::{Heard, inside};
use super::super::vocabulary::TextKind;
use crate::json::{Object, quote};

/// A text as far as it has come. Kept as it came, escaped.
///
/// ```text
///   Open ── add (deltas) ──> Open ── end ──> Ended
/// ```
///
/// Guarantee: the deltas that were told, put together, are what the text is said to be in the end,
/// unless the upstream itself says something else in the end than in its deltas.
#[derive(Debug)]
pub(super) struct Text {
    kind: &'static TextKind,
    /// The index of the part that holds it.
    index: Option<(&'static str, String)>,
    said: String,
    /// The `logprobs` of what was said: raw tokens, between commas.
    logprobs: String,
    has_ended: bool,
}

/// How a text goes on from what was said of it to the whole. Both escaped.
struct Course<'a> {
    /// What is still to be told.
    rest: Cow<'a, str>,
    whole: Cow<'a, str>,
}

impl Text {
    pub(super) fn new(kind: &'static TextKind, index: Option<(&'static str, String)>) -> Self {
        Self { kind, index, said: String::new(), logprobs: String::new(), has_ended: false }
    }

    /// What was said so far, escaped.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// How many bytes are kept of it.
    pub(super) fn length(&self) -> usize {
        self.said.len() + self.logprobs.len()
    }

    /// The `logprobs` that were told with it, a raw list; `None` where there were none.
    pub(super) fn logprobs(&self) -> Option<String> {
        (!self.logprobs.is_empty()).then(|| format!("[{}]", self.logprobs))
    }

    /// The same as a JSON string.
    pub(super) fn raw(&self) -> String {
        format!("\"{}\"", self.said)
    }

    /// What a finished item that says `whole` should say, as a JSON string: what was told, where
    /// that is the same written differently.
    pub(super) fn settled(&self, whole: &str) -> String {
        match self.course(whole) {
            Some(course) if course.rest.is_empty() => format!("\"{}\"", course.whole),
            _ => format!("\"{whole}\""),
        }
    }

    pub(super) fn kind(&self) -> &'static TextKind {
        self.kind
    }

    /// Whether an event of this kind can belong to it. Of two kinds for one part it takes the one
    /// that speaks first.
    pub(super) fn takes(&mut self, kind: &'static TextKind) -> bool {
        if self.said.is_empty() && !self.has_ended && self.kind.is_in_the_same_part_as(kind) {
            self.kind = kind;
        }
        std::ptr::eq(self.kind, kind)
    }

    /// Takes a piece and passes it on. Nothing belongs to a text that has ended.
    pub(super) fn add(&mut self, heard: &Heard<'_>, out: &mut ItemEmitter<'_>) {
        let Some(piece) = heard.text("delta").filter(|_| !self.has_ended) else {
            return;
        };
        self.said.push_str(piece);
        if self.kind.has_logprobs {
            self.keep_logprobs(heard);
        }
        let index = self.index_field();
        out.pass(heard, index.as_slice());
    }

    /// Ends the text with the whole of it: tells what is missing, then that it is done. An upstream
    /// that says nothing in the end has said all of it before.
    pub(super) fn end(
        &mut self,
        whole: &str,
        logprobs: &str,
        heard: Option<&Heard<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        let whole = self.tell_rest(whole, logprobs, out);
        let told = self.logprobs().filter(|_| logprobs == "[]");
        let logprobs = told.as_deref().unwrap_or(logprobs);
        let as_heard = heard.filter(|heard| heard.text(self.kind.field) == Some(&whole));
        match as_heard {
            Some(heard) => out.pass(heard, self.index_field().as_slice()),
            None => self.tell(self.kind.done, (self.kind.field, &whole), logprobs, out),
        }
        self.said = whole;
    }

    fn keep_logprobs(&mut self, heard: &Heard<'_>) {
        let list = heard.object.present("logprobs").unwrap_or_default().trim();
        let tokens = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
        let tokens = tokens.unwrap_or_default().trim();
        if !tokens.is_empty() {
            self.logprobs.push_str(if self.logprobs.is_empty() { "" } else { "," });
            self.logprobs.push_str(tokens);
        }
    }

    /// Whether what was said can be the beginning of this.
    pub(super) fn leads_to(&self, whole: &str) -> bool {
        self.course(whole).is_some()
    }

    /// Tells what is missing of the whole, which it gives back.
    fn tell_rest(&self, whole: &str, logprobs: &str, out: &mut ItemEmitter<'_>) -> String {
        let Some(Course { rest, whole }) = self.course(whole) else {
            return whole.to_owned();
        };
        if !rest.is_empty() {
            let logprobs = if self.said.is_empty() { logprobs } else { "[]" };
            self.tell(self.kind.delta, ("delta", &rest), logprobs, out);
        }
        whole.into_owned()
    }

    fn tell(
        &self,
        event: &'static str,
        text: Field<'_>,
        logprobs: &str,
        out: &mut ItemEmitter<'_>,
    ) {
        let quoted = format!("\"{}\"", text.1);
        let mut fields: Vec<Field<'_>> = self.index_field().into_iter().collect();
        fields.push((text.0, &quoted));
        if self.kind.has_logprobs {
            fields.push(("logprobs", logprobs));
        }
        out.emit(event, &fields);
    }

    fn index_field(&self) -> Option<Field<'_>> {
        self.index.as_ref().map(|(key, raw)| (*key, raw.as_str()))
    }

    /// How what was said leads to `whole`; `None` where it does not.
    fn course<'a>(&'a self, whole: &'a str) -> Option<Course<'a>> {
        if whole.is_empty() {
            return Some(Course { rest: Cow::Borrowed(""), whole: Cow::Borrowed(&self.said) });
        }
        if let Some(rest) = whole.strip_prefix(&*self.said) {
            return Some(Course { rest: Cow::Borrowed(rest), whole: Cow::Borrowed(whole) });
        }
        self.course_by_meaning(whole)
    }

    /// The same where the two are written differently: with other escapes, or, in JSON, with other
    /// white space. What was said stays as it was said.
    fn course_by_meaning<'a>(&'a self, whole: &'a str) -> Option<Course<'a>> {
        let (said, meant) = (unescaped(&self.said)?, unescaped(whole)?);
        if let Some(rest) = meant.strip_prefix(&*said) {
            return Some(Course { rest: Cow::Owned(escaped(rest)), whole: Cow::Borrowed(whole) });
        }
        let rest = json_rest(&said, &meant).filter(|_| self.kind.is_json)?;
        let rest = escaped(rest);
        let whole = Cow::Owned(format!("{}{rest}", self.said));
        Some(Course { rest: Cow::Owned(rest), whole })
    }
}

/// The text of this kind that an item holds, escaped. JSON that an upstream gives as it is counts as
/// the text of it.
pub(super) fn held_in<'a>(item: &'a Object<'_>, kind: &TextKind) -> Cow<'a, str> {
    match item.present(kind.field) {
        Some(raw) if kind.is_json && !raw.starts_with('"') => Cow::Owned(escaped(raw)),
        raw => Cow::Borrowed(raw.and_then(inside).unwrap_or_default()),
    }
}

fn unescaped(inside: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{inside}\"")).ok()
}

fn escaped(text: &str) -> String {
    let quoted = quote(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// What of the JSON `whole` is left after `said`, which may end anywhere in it. White space between
/// the tokens does not count.
fn json_rest<'a>(said: &str, whole: &'a str) -> Option<&'a str> {
    let mut left = significant(whole);
    for (_, said) in significant(said) {
        left.next().filter(|(_, meant)| *meant == said)?;
    }
    let at = left.next().map_or(whole.len(), |(at, _)| at);
    Some(&whole[at..])
}

/// The characters of a JSON text and where they stand, without the white space between tokens.
fn significant(json: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut in_string, mut is_escaped) = (false, false);
    json.char_indices().filter(move |(_, c)| {
        let counts = in_string || !c.is_ascii_whitespace();
        in_string ^= *c == '"' && !is_escaped;
        is_escaped = in_string && *c == '\\' && !is_escaped;
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_goes_on_where_only_its_white_space_differs() {
        let whole = r#"{"place": "New  York", "days":2}"#;
        assert_eq!(json_rest(r#"{ "place":"New  Y"#, whole), Some(r#"ork", "days":2}"#));
        assert_eq!(json_rest(r#"{"place":"New  York","days": 2 }"#, whole), Some(""));
        assert_eq!(json_rest(r#"{"place":"New York"#, whole), None);
        assert_eq!(json_rest(r#"{"place":"New  York","days":2}}"#, whole), None);
    }

    #[test]
    fn white_space_in_a_string_counts_behind_an_escaped_quote_too() {
        assert_eq!(json_rest(r#"{"a":"\" x"#, r#"{"a":"\" x"}"#), Some(r#""}"#));
        assert_eq!(json_rest(r#"{"a":"\"x"#, r#"{"a":"\" x"}"#), None);
        assert_eq!(json_rest(r#"{"a":"\\" "#, r#"{"a":"\\"}"#), Some("}"));
    }
}
