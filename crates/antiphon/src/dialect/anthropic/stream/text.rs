//! A text block.

use super::citation::{self, Cited};
use super::context::Context;
use super::messages::Messages;
use crate::json::Object;
use crate::stream::{Assembler, Spoken};

/// A text block: a part of a message, once it speaks.
#[derive(Debug)]
pub(super) struct Text {
    message: u64,
    /// Which part of the message it is; `None` before it speaks.
    part: Option<u64>,
    /// How many characters it has said.
    length: u64,
    /// What its text is taken from, as Anthropic says it.
    citations: Vec<String>,
}

impl Text {
    pub(super) fn start(
        block: &Object<'_>,
        context: &mut Context,
        assembler: &mut Assembler,
    ) -> Self {
        let message = Messages::block_starts(context);
        let mut text = Self { message, part: None, length: 0, citations: Vec::new() };
        text.say(block.get("text").unwrap_or(r#""""#), context, assembler);
        text.cite(citation::in_list(block.present("citations")).into_iter());
        text
    }

    /// Takes a piece: a raw JSON string.
    pub(super) fn say(&mut self, raw: &str, context: &mut Context, assembler: &mut Assembler) {
        if !speaks(raw) {
            return;
        }
        let item = self.message;
        let part = self.part.get_or_insert_with(|| context.messages.block_speaks(item, assembler));
        assembler.delta(item, Spoken::Output, *part, raw);
        self.length += characters(raw);
    }

    /// Takes citations. They are told when the block ends: they are of all its text, and some come
    /// before it.
    pub(super) fn cite<'a>(&mut self, citations: impl Iterator<Item = &'a str>) {
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
        context.messages.block_stops(self.message, assembler);
    }

    fn annotations(&self, assembler: &mut Assembler) -> String {
        let mut annotations = Vec::with_capacity(self.citations.len());
        for citation in &self.citations {
            match citation::annotation(citation, self.length) {
                Cited::As(annotation) => annotations.push(annotation),
                Cited::Nothing { kind } => assembler.leave_out(format!("citation '{kind}'")),
            }
        }
        annotations.join(",")
    }
}

/// Whether `raw` is a string with something in it.
pub(super) fn speaks(raw: &str) -> bool {
    raw.starts_with('"') && raw.len() > 2
}

/// How many characters a raw JSON string stands for.
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
        let goes_on = byte & 0xc0 == 0x80 || is_low_surrogate;
        count += u64::from(!goes_on);
    }
    count
}

#[cfg(test)]
mod unit_tests {
    use super::characters;

    #[test]
    fn characters_are_counted_however_they_are_written() {
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
