//! One streamed text of an item.

use std::borrow::Cow;

use super::super::emitter::ItemEmitter;
use super::super::fields::Field;
use super::super::upstream_event::{UpstreamEvent, inside};
use super::super::vocabulary::TextKind;
use crate::json::{Object, quote};

/// A streamed text, stored escaped as the upstream sent it.
///
/// ```text
///   Open ── add (deltas) ──> Open ── end ──> Ended
/// ```
///
/// Guarantee: the emitted deltas add up to the final text, unless the upstream's final text
/// contradicts its own deltas.
#[derive(Debug)]
pub(super) struct Text {
    kind: &'static TextKind,
    /// The index field of the part that holds it.
    index: Option<(&'static str, String)>,
    text: String,
    /// The `logprobs` so far: raw tokens, separated by commas.
    logprobs: String,
    has_ended: bool,
}

/// The comparison of the text so far with the final text. Both are escaped.
struct Remainder<'a> {
    /// The part that is not emitted yet.
    rest: Cow<'a, str>,
    whole: Cow<'a, str>,
}

impl Text {
    pub(super) fn new(kind: &'static TextKind, index: Option<(&'static str, String)>) -> Self {
        Self { kind, index, text: String::new(), logprobs: String::new(), has_ended: false }
    }

    /// The text so far, escaped.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Number of bytes held in memory.
    pub(super) fn length(&self) -> usize {
        self.text.len() + self.logprobs.len()
    }

    /// The `logprobs` so far, a raw list; `None` if there were none.
    pub(super) fn logprobs(&self) -> Option<String> {
        (!self.logprobs.is_empty()).then(|| format!("[{}]", self.logprobs))
    }

    /// The text so far as a JSON string.
    pub(super) fn raw(&self) -> String {
        format!("\"{}\"", self.text)
    }

    /// The text of the finished item, as a JSON string. If `whole` differs from the emitted text
    /// only in notation, it is the emitted text.
    pub(super) fn final_json(&self, whole: &str) -> String {
        match self.remainder(whole) {
            Some(remainder) if remainder.rest.is_empty() => format!("\"{}\"", remainder.whole),
            _ => format!("\"{whole}\""),
        }
    }

    pub(super) fn kind(&self) -> &'static TextKind {
        self.kind
    }

    /// Whether an event of this kind can belong to the text. If two kinds share a part, the first
    /// one that has content wins.
    pub(super) fn takes(&mut self, kind: &'static TextKind) -> bool {
        if self.text.is_empty() && !self.has_ended && self.kind.is_in_the_same_part_as(kind) {
            self.kind = kind;
        }
        std::ptr::eq(self.kind, kind)
    }

    /// Adds a delta and forwards it. Deltas after the end are ignored.
    pub(super) fn add(&mut self, event: &UpstreamEvent<'_>, out: &mut ItemEmitter<'_>) {
        let Some(piece) = event.text("delta").filter(|_| !self.has_ended) else {
            return;
        };
        self.text.push_str(piece);
        if self.kind.has_logprobs {
            self.add_logprobs(event);
        }
        let index = self.index_field();
        out.forward(event, index.as_slice());
    }

    /// Ends the text: emits the missing rest, then the done event. An empty `whole` means that the
    /// deltas are complete.
    pub(super) fn end(
        &mut self,
        whole: &str,
        logprobs: &str,
        event: Option<&UpstreamEvent<'_>>,
        out: &mut ItemEmitter<'_>,
    ) {
        if self.has_ended {
            return;
        }
        self.has_ended = true;
        let whole = self.emit_rest(whole, logprobs, out);
        let own = self.logprobs().filter(|_| logprobs == "[]");
        let logprobs = own.as_deref().unwrap_or(logprobs);
        let unchanged = event.filter(|event| event.text(self.kind.field) == Some(&whole));
        match unchanged {
            Some(event) => out.forward(event, self.index_field().as_slice()),
            None => self.emit(self.kind.done, (self.kind.field, &whole), logprobs, out),
        }
        self.text = whole;
    }

    fn add_logprobs(&mut self, event: &UpstreamEvent<'_>) {
        let list = event.object.present("logprobs").unwrap_or_default().trim();
        let tokens = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
        let tokens = tokens.unwrap_or_default().trim();
        if !tokens.is_empty() {
            self.logprobs.push_str(if self.logprobs.is_empty() { "" } else { "," });
            self.logprobs.push_str(tokens);
        }
    }

    /// Whether the text so far can be the beginning of `whole`.
    pub(super) fn is_prefix_of(&self, whole: &str) -> bool {
        self.remainder(whole).is_some()
    }

    /// Emits the missing rest of `whole` and returns the final text.
    fn emit_rest(&self, whole: &str, logprobs: &str, out: &mut ItemEmitter<'_>) -> String {
        let Some(Remainder { rest, whole }) = self.remainder(whole) else {
            return whole.to_owned();
        };
        if !rest.is_empty() {
            let logprobs = if self.text.is_empty() { logprobs } else { "[]" };
            self.emit(self.kind.delta, ("delta", &rest), logprobs, out);
        }
        whole.into_owned()
    }

    fn emit(
        &self,
        event_type: &'static str,
        text: Field<'_>,
        logprobs: &str,
        out: &mut ItemEmitter<'_>,
    ) {
        if out.emitter.is_silent {
            return out.emit(event_type, &[]);
        }
        let quoted = format!("\"{}\"", text.1);
        let mut fields: Vec<Field<'_>> = self.index_field().into_iter().collect();
        fields.push((text.0, &quoted));
        if self.kind.has_logprobs {
            fields.push(("logprobs", logprobs));
        }
        out.emit(event_type, &fields);
    }

    fn index_field(&self) -> Option<Field<'_>> {
        self.index.as_ref().map(|(key, raw)| (*key, raw.as_str()))
    }

    /// The rest of `whole` after the text so far; `None` if `whole` does not continue it.
    fn remainder<'a>(&'a self, whole: &'a str) -> Option<Remainder<'a>> {
        if whole.is_empty() {
            return Some(Remainder { rest: Cow::Borrowed(""), whole: Cow::Borrowed(&self.text) });
        }
        if let Some(rest) = whole.strip_prefix(&*self.text) {
            return Some(Remainder { rest: Cow::Borrowed(rest), whole: Cow::Borrowed(whole) });
        }
        self.remainder_by_value(whole)
    }

    /// The same for texts in different notation: other escapes or, in JSON, other white space. The
    /// emitted text keeps its notation.
    fn remainder_by_value<'a>(&'a self, whole: &'a str) -> Option<Remainder<'a>> {
        let (prefix, value) = (unescape(&self.text)?, unescape(whole)?);
        if let Some(rest) = value.strip_prefix(&*prefix) {
            return Some(Remainder { rest: Cow::Owned(escape(rest)), whole: Cow::Borrowed(whole) });
        }
        let rest = json_rest(&prefix, &value).filter(|_| self.kind.is_json)?;
        let rest = escape(rest);
        let whole = Cow::Owned(format!("{}{rest}", self.text));
        Some(Remainder { rest: Cow::Owned(rest), whole })
    }
}

/// The text of this kind in an item, escaped. JSON in place of a string counts as its text.
pub(super) fn text_in<'a>(item: &'a Object<'_>, kind: &TextKind) -> Cow<'a, str> {
    match item.present(kind.field) {
        Some(raw) if kind.is_json && !raw.starts_with('"') => Cow::Owned(escape(raw)),
        raw => Cow::Borrowed(raw.and_then(inside).unwrap_or_default()),
    }
}

fn unescape(inside: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{inside}\"")).ok()
}

fn escape(text: &str) -> String {
    let quoted = quote(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// The rest of the JSON `whole` after `prefix`, which may end inside a token. White space between
/// tokens is ignored.
fn json_rest<'a>(prefix: &str, whole: &'a str) -> Option<&'a str> {
    let mut left = significant(whole);
    for (_, expected) in significant(prefix) {
        left.next().filter(|(_, found)| *found == expected)?;
    }
    let at = left.next().map_or(whole.len(), |(at, _)| at);
    Some(&whole[at..])
}

/// The characters of a JSON text with their positions, without the white space between tokens.
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
    fn json_rest_ignores_white_space_between_tokens() {
        let whole = r#"{"place": "New  York", "days":2}"#;
        assert_eq!(json_rest(r#"{ "place":"New  Y"#, whole), Some(r#"ork", "days":2}"#));
        assert_eq!(json_rest(r#"{"place":"New  York","days": 2 }"#, whole), Some(""));
        assert_eq!(json_rest(r#"{"place":"New York"#, whole), None);
        assert_eq!(json_rest(r#"{"place":"New  York","days":2}}"#, whole), None);
    }

    #[test]
    fn json_rest_keeps_white_space_inside_strings() {
        assert_eq!(json_rest(r#"{"a":"\" x"#, r#"{"a":"\" x"}"#), Some(r#""}"#));
        assert_eq!(json_rest(r#"{"a":"\"x"#, r#"{"a":"\" x"}"#), None);
        assert_eq!(json_rest(r#"{"a":"\\" "#, r#"{"a":"\\"}"#), Some("}"));
    }
}
