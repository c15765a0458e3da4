//! Text blocks, the messages that they form, and their citations.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::block::Context;
use crate::json::{Object, quote};
use crate::stream::{Assembler, DeltaKind};

/// A text block. It becomes a part of a message when its first text arrives.
#[derive(Debug)]
pub(super) struct Text {
    message: u64,
    /// The index of the part in the message; `None` before the first text.
    part: Option<u64>,
    /// The number of characters so far.
    length: u64,
    /// The raw citations of the text.
    citations: Vec<String>,
}

impl Text {
    pub(super) fn start(
        block: &Object<'_>,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Self {
        let message = Messages::start_block(context);
        let mut text = Self { message, part: None, length: 0, citations: Vec::new() };
        text.append(block.get("text").unwrap_or(r#""""#), context, assembler);
        text.add_citations(citations_in(block.present("citations")).into_iter());
        text
    }

    /// Appends a piece of text: a raw JSON string.
    pub(super) fn append(&mut self, raw: &str, context: &mut Context, assembler: &mut Assembler) {
        if !is_nonempty_string(raw) {
            return;
        }
        let item = self.message;
        let part = self.part.get_or_insert_with(|| context.messages.start_part(item, assembler));
        assembler.delta(item, DeltaKind::Output, *part, raw);
        self.length += characters(raw);
    }

    /// Adds citations. They are emitted at the end of the block, because they cover its whole text
    /// and some arrive before the text.
    pub(super) fn add_citations<'a>(&mut self, citations: impl Iterator<Item = &'a str>) {
        self.citations.extend(citations.map(str::to_owned));
    }

    pub(super) fn end(self, context: &mut Context, assembler: &mut Assembler) {
        if let Some(part) = self.part {
            let annotations = self.annotations(assembler);
            let ended = format!(
                r#"{{"type":"output_text","text":"","annotations":[{annotations}],"logprobs":[]}}"#
            );
            assembler.end_part(self.message, part, &ended);
        }
        context.messages.stop_block(self.message, assembler);
    }

    fn annotations(&self, assembler: &mut Assembler) -> String {
        let mut annotations = Vec::with_capacity(self.citations.len());
        for citation in &self.citations {
            match convert_citation(citation, self.length) {
                Ok(annotation) => annotations.push(annotation),
                Err(kind) => assembler.leave_out(format!("citation '{kind}'")),
            }
        }
        annotations.join(",")
    }
}

/// Whether `raw` is a nonempty JSON string.
pub(super) fn is_nonempty_string(raw: &str) -> bool {
    raw.starts_with('"') && raw.len() > 2
}

/// The number of characters that a raw JSON string represents.
fn characters(raw: &str) -> u64 {
    let inside = &raw[1..raw.len() - 1];
    let mut count = 0;
    let mut rest = inside.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        let is_low_surrogate = byte == b'\\' && {
            let escape = inside.as_bytes().get(at + 1..at + 4).unwrap_or_default();
            let is_low = matches!(escape, [b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F']);
            let length = if escape.first() == Some(&b'u') { 5 } else { 1 };
            rest.nth(length - 1);
            is_low
        };
        let is_continuation = byte & 0xc0 == 0x80 || is_low_surrogate;
        count += u64::from(!is_continuation);
    }
    count
}

#[cfg(test)]
mod unit_tests {
    use super::characters;

    #[test]
    fn characters_count_escapes_and_utf8() {
        for (raw, count) in [
            (r#""""#, 0),
            (r#""plain""#, 5),
            ("\"\u{e9}\u{1f600}\"", 2),
            (r#""a\n\"b\\""#, 5),
            (r#""\u00e9x""#, 2),
            (r#""\ud83d\ude00!""#, 2),
        ] {
            assert_eq!(characters(raw), count, "{raw}");
        }
    }
}

/// Converts a citation of a text with `length` characters into a raw annotation. The error is the
/// type of a citation that the Responses API has no annotation for.
///
/// Sources: Anthropic's documentation of citations and of the web search tool; the annotation types
/// of the Responses API. A citation refers to the whole text of its block, so its annotation covers
/// all characters of the part.
///
/// | citation | annotation |
/// |---|---|
/// | `web_search_result_location` | `url_citation` |
/// | `search_result_location` whose `source` is a URL | `url_citation` |
/// | `char_location`, `page_location` of a document with a `file_id` | `file_citation` |
/// | `content_block_location` of a document with a `file_id` | `file_citation` |
/// | any other | left out: the types of the Responses API require a URL or a file |
fn convert_citation(citation: &str, length: u64) -> Result<String, String> {
    let citation = Object::parse(citation.as_bytes()).unwrap_or_default();
    let kind = citation.string("type").unwrap_or_default();
    let annotation = match &*kind {
        "web_search_result_location" => url_citation(&citation, "url", length),
        "search_result_location" => url_citation(&citation, "source", length),
        "char_location" | "page_location" | "content_block_location" => file_citation(&citation),
        _ => None,
    };
    annotation.ok_or_else(|| kind.into_owned())
}

/// The citations in a raw list.
fn citations_in(raw: Option<&str>) -> Vec<&str> {
    let citations: Option<Vec<&RawValue>> = raw.and_then(|raw| serde_json::from_str(raw).ok());
    citations.unwrap_or_default().into_iter().map(RawValue::get).collect()
}

fn url_citation(citation: &Object<'_>, key: &str, length: u64) -> Option<String> {
    let url = citation.string(key).filter(|url| url.contains("://"))?;
    let title = citation.string("title").unwrap_or_default();
    let (url, title) = (quote(&url), quote(&title));
    let range = format!(r#""start_index":0,"end_index":{length}"#);
    Some(format!(r#"{{"type":"url_citation","url":{url},"title":{title},{range}}}"#))
}

fn file_citation(citation: &Object<'_>) -> Option<String> {
    let file_id = quote(&citation.string("file_id")?);
    let filename = quote(&citation.string("document_title").unwrap_or_default());
    let index: u64 = citation.get("document_index").and_then(|raw| raw.parse().ok()).unwrap_or(0);
    Some(format!(
        r#"{{"type":"file_citation","file_id":{file_id},"filename":{filename},"index":{index}}}"#
    ))
}

/// The open messages.
///
/// ```text
///   text block starts ──> current ── text block starts ──> current
///                           └── another block starts ──> past ── its last block stops ──> closed
/// ```
///
/// A message is announced with its first text. A message with only empty blocks is never announced.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The message that the next text block belongs to.
    current: Option<u64>,
    open: HashMap<u64, Message>,
}

#[derive(Debug, Default)]
struct Message {
    /// The number of its blocks that have text.
    parts: u64,
    /// The number of its blocks that have not stopped.
    blocks: usize,
}

impl Messages {
    /// Adds a text block to the current message, and returns the item of the message.
    pub(super) fn start_block(context: &mut Context) -> u64 {
        let current = context.messages.current;
        let item = current.unwrap_or_else(|| context.new_item());
        context.messages.current = Some(item);
        context.messages.open.entry(item).or_default().blocks += 1;
        item
    }

    /// Starts a part for a block's first text, and returns the index of the part.
    pub(super) fn start_part(&mut self, item: u64, assembler: &mut Assembler) -> u64 {
        let message = self.open.entry(item).or_default();
        if message.parts == 0 {
            let fields = [("type", r#""message""#), ("role", r#""assistant""#)];
            assembler.announce_item(item, &Object::from_iter(fields));
        }
        message.parts += 1;
        message.parts - 1
    }

    /// Records that a block of the message has stopped.
    pub(super) fn stop_block(&mut self, item: u64, assembler: &mut Assembler) {
        if let Some(message) = self.open.get_mut(&item) {
            message.blocks = message.blocks.saturating_sub(1);
            self.close_if_past(item, assembler);
        }
    }

    /// Ends the current message, because a block of another type starts.
    pub(super) fn end_current(&mut self, assembler: &mut Assembler) {
        if let Some(item) = self.current.take() {
            self.close_if_past(item, assembler);
        }
    }

    fn close_if_past(&mut self, item: u64, assembler: &mut Assembler) {
        let has_stopped = self.open.get(&item).is_some_and(|message| message.blocks == 0);
        if has_stopped && self.current != Some(item) {
            self.open.remove(&item);
            assembler.close_item(item);
        }
    }
}
