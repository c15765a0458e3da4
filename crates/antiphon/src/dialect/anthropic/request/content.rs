//! Converts the parts of messages and outputs into blocks.

use serde_json::value::RawValue;

use super::block::Block;
use super::{AnthropicOmissions, media, unsupported};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::{Object, type_name};

/// The location of an item's content, and the blocks that it can hold.
#[derive(Clone, Copy)]
pub(super) struct Content {
    position: usize,
    field: &'static str,
    carries: Carries,
}

/// The kinds of blocks that a content can hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    Text,
    TextAndMedia,
}

impl Content {
    /// The content of a user message.
    pub(super) fn user_message(position: usize) -> Self {
        Self { position, field: "content", carries: Carries::TextAndMedia }
    }

    /// The content of a message that can hold only text: an assistant message or instructions.
    pub(super) fn text_message(position: usize) -> Self {
        Self { position, field: "content", carries: Carries::Text }
    }

    /// The output of a call.
    pub(super) fn call_output(position: usize) -> Self {
        Self { position, field: "output", carries: Carries::TextAndMedia }
    }

    /// Converts a raw content, which is a string or an array of parts. Leaves out blank text.
    pub(super) fn blocks(
        self,
        raw: &str,
        omissions: &mut AnthropicOmissions,
    ) -> Result<Vec<Block>, Unsupported> {
        if raw.starts_with('"') {
            return Ok(Block::text(raw).into_iter().collect());
        }
        let parts: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| {
            let place = RequestPath::Item(self.position, self.field.into());
            let got = type_name(raw);
            let why = format!("the Anthropic Messages API takes text or blocks, not {got}");
            unsupported(place, &why)
        })?;
        let blocks =
            parts.iter().enumerate().map(|(number, part)| self.block(number, part, omissions));
        blocks.filter_map(Result::transpose).collect()
    }

    fn block(
        self,
        number: usize,
        part: &RawValue,
        omissions: &mut AnthropicOmissions,
    ) -> Result<Option<Block>, Unsupported> {
        let path = format!("{}[{number}]", self.field);
        let Ok(fields) = Object::parse(part.get().as_bytes()) else {
            let why = "a part of the content must be an object in the Anthropic Messages API";
            return Err(unsupported(RequestPath::Item(self.position, path), why));
        };
        let part = Part { position: self.position, path, fields };
        match &*part.fields.string("type").unwrap_or_default() {
            "input_text" | "output_text" | "text" => part.text("text"),
            "refusal" => part.text("refusal"),
            "input_image" | "input_file" if self.carries == Carries::Text => {
                let why = "the Anthropic Messages API takes only text in such a message";
                Err(unsupported(part.place(), why))
            }
            "input_image" => media::image(&part, omissions).map(Some),
            "input_file" => media::document(&part).map(Some),
            own if own.starts_with("anthropic:") => part.own_block(),
            other => {
                let why = format!("the Anthropic Messages API has no block for '{other}'");
                Err(unsupported(part.place(), &why))
            }
        }
    }
}

/// One part of the content.
pub(super) struct Part<'a> {
    position: usize,
    path: String,
    pub(super) fields: Object<'a>,
}

impl Part<'_> {
    /// The path of the part: `input[3].content[0]`.
    pub(super) fn place(&self) -> RequestPath {
        RequestPath::Item(self.position, self.path.clone())
    }

    /// The path of one of its fields.
    pub(super) fn at(&self, field: &str) -> RequestPath {
        RequestPath::Item(self.position, format!("{}.{field}", self.path))
    }

    /// The block in an `anthropic:` part, unchanged.
    fn own_block(&self) -> Result<Option<Block>, Unsupported> {
        match self.fields.get("content").filter(|raw| raw.starts_with('{')) {
            Some(raw) => Ok(Some(Block::Other(raw.to_owned()))),
            None => Err(unsupported(self.place(), "it holds no Anthropic Messages block")),
        }
    }

    fn text(&self, field: &str) -> Result<Option<Block>, Unsupported> {
        match self.fields.present(field) {
            None => Ok(None),
            Some(raw) if raw.starts_with('"') => Ok(Block::text(raw)),
            Some(raw) => {
                let got = type_name(raw);
                let why = format!("text in the Anthropic Messages API is a string, not {got}");
                Err(unsupported(self.place(), &why))
            }
        }
    }
}
