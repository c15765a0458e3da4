//! Parts of messages and outputs as blocks.

use serde_json::value::RawValue;

use super::block::Block;
use super::media;
use super::report::{Report, unsupported};
use crate::dialect::request::{Place, Unsupported};
use crate::json::{Object, type_name};

/// The content of one item, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Content {
    position: usize,
    field: &'static str,
    carries: Carries,
}

/// What blocks may stand in a content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Carries {
    Text,
    TextAndMedia,
}

impl Content {
    /// The content of a user's message.
    pub(super) fn of_user(position: usize) -> Self {
        Self { position, field: "content", carries: Carries::TextAndMedia }
    }

    /// The content of a message that is text alone: an assistant's, or instructions.
    pub(super) fn of_text(position: usize) -> Self {
        Self { position, field: "content", carries: Carries::Text }
    }

    /// The output of a call.
    pub(super) fn of_output(position: usize) -> Self {
        Self { position, field: "output", carries: Carries::TextAndMedia }
    }

    /// The blocks of a raw content: a string, or an array of parts. Blank text is left out.
    pub(super) fn blocks(self, raw: &str, report: &mut Report) -> Result<Vec<Block>, Unsupported> {
        if raw.starts_with('"') {
            return Ok(Block::text(raw).into_iter().collect());
        }
        let parts: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| {
            let place = Place::Item(self.position, self.field.into());
            let got = type_name(raw);
            unsupported(place, &format!("Anthropic Messages have text or blocks there, not {got}"))
        })?;
        let blocks =
            parts.iter().enumerate().map(|(number, part)| self.block(number, part, report));
        blocks.filter_map(Result::transpose).collect()
    }

    fn block(
        self,
        number: usize,
        part: &RawValue,
        report: &mut Report,
    ) -> Result<Option<Block>, Unsupported> {
        let path = format!("{}[{number}]", self.field);
        let Ok(fields) = Object::parse(part.get().as_bytes()) else {
            let why = "a part of a content is an object, in Anthropic Messages too";
            return Err(unsupported(Place::Item(self.position, path), why));
        };
        let part = Part { position: self.position, path, fields };
        match &*part.fields.string("type").unwrap_or_default() {
            "input_text" | "output_text" | "text" => part.text("text"),
            "refusal" => part.text("refusal"),
            "input_image" | "input_file" if self.carries == Carries::Text => {
                let why = "Anthropic Messages have nothing but text in such a message";
                Err(unsupported(part.place(), why))
            }
            "input_image" => media::image(&part, report).map(Some),
            "input_file" => media::document(&part).map(Some),
            own if own.starts_with("anthropic:") => part.own_block(),
            other => {
                let why = format!("Anthropic Messages have no block for '{other}'");
                Err(unsupported(part.place(), &why))
            }
        }
    }
}

/// One part of a content.
pub(super) struct Part<'a> {
    position: usize,
    path: String,
    pub(super) fields: Object<'a>,
}

impl Part<'_> {
    /// Where it stands: `input[3].content[0]`.
    pub(super) fn place(&self) -> Place {
        Place::Item(self.position, self.path.clone())
    }

    /// Where one of its fields stands.
    pub(super) fn at(&self, field: &str) -> Place {
        Place::Item(self.position, format!("{}.{field}", self.path))
    }

    /// A block that has no part of its own, as it was.
    fn own_block(&self) -> Result<Option<Block>, Unsupported> {
        match self.fields.get("content").filter(|raw| raw.starts_with('{')) {
            Some(raw) => Ok(Some(Block::Other(raw.to_owned()))),
            None => Err(unsupported(self.place(), "it holds no block of Anthropic Messages")),
        }
    }

    fn text(&self, field: &str) -> Result<Option<Block>, Unsupported> {
        match self.fields.present(field) {
            None => Ok(None),
            Some(raw) if raw.starts_with('"') => Ok(Block::text(raw)),
            Some(raw) => {
                let why =
                    format!("a text in Anthropic Messages is a string, not {}", type_name(raw));
                Err(unsupported(self.place(), &why))
            }
        }
    }
}
