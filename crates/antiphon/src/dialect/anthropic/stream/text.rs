//! The text block.

use super::citation::{self, ConvertedCitation};
use super::context::Context;
use super::messages::Messages;
use crate::json::Object;
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
        text.add_citations(citation::in_list(block.present("citations")).into_iter());
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
            match citation::annotation(citation, self.length) {
                ConvertedCitation::Annotation(annotation) => annotations.push(annotation),
                ConvertedCitation::Unsupported { kind } => {
                    assembler.leave_out(format!("citation '{kind}'"));
                }
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
