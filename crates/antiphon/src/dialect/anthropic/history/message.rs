//! Converts one message into items.

use serde_json::value::RawValue;

use super::AnthropicHistoryError;
use super::block::{Converted, convert_block, text_part};
use crate::item::{Item, Role};
use crate::json::Object;
use crate::transcript::Origin;

/// Converts one message, block by block.
pub(super) struct Message<'a> {
    number: usize,
    origin: Option<&'a Origin>,
    items: &'a mut Vec<Item>,
    /// The parts since the last item. They become one message.
    parts: Vec<String>,
}

/// The item for a raw `system` prompt; `None` if the prompt is empty.
pub(super) fn instructions(system: &[u8]) -> Result<Option<Item>, AnthropicHistoryError> {
    let error = |reason: &str| AnthropicHistoryError::System { reason: reason.to_owned() };
    let text = std::str::from_utf8(system).map_err(|_| error("not UTF-8"))?.trim();
    if text == "null" || text == r#""""# {
        return Ok(None);
    }
    let mut items = Vec::new();
    let mut message = Message::new(0, None, &mut items);
    message.content("system", Role::System, text).map_err(|found| match found {
        AnthropicHistoryError::Block { block, reason, .. } => {
            error(&format!("block {block}: {reason}"))
        }
        AnthropicHistoryError::Message { reason, .. } => error(&reason),
        other => other,
    })?;
    Ok(items.pop())
}

impl<'a> Message<'a> {
    pub(super) fn new(number: usize, origin: Option<&'a Origin>, items: &'a mut Vec<Item>) -> Self {
        Self { number, origin, items, parts: Vec::new() }
    }

    /// Converts the message `raw`.
    pub(super) fn read(&mut self, raw: &str) -> Result<(), AnthropicHistoryError> {
        let message =
            Object::parse(raw.as_bytes()).map_err(|error| self.error(error.to_string()))?;
        let name = message.string("role").unwrap_or_default();
        let role = Role::parse(&name);
        if !matches!(role, Role::User | Role::Assistant | Role::System) {
            return Err(self.error(format!("'{name}' is not a valid role")));
        }
        let content = message.present("content");
        let content = content.ok_or_else(|| self.error("content: field required".to_owned()))?;
        self.content(&name, role, content)
    }

    fn content(
        &mut self,
        name: &str,
        role: Role,
        content: &str,
    ) -> Result<(), AnthropicHistoryError> {
        if content.starts_with('"') {
            self.parts.push(text_part(role, content));
            return self.close(name);
        }
        let blocks: Vec<&RawValue> = serde_json::from_str(content)
            .map_err(|_| self.error("content: expected a string or a block array".to_owned()))?;
        for (number, raw) in blocks.iter().enumerate() {
            match convert_block(raw.get(), role, self.origin)
                .map_err(|reason| self.at(number, reason))?
            {
                Converted::Part(part) => self.parts.push(part),
                Converted::Item(item) => {
                    self.close(name)?;
                    let item = Item::parse(item.into());
                    self.items.push(item.map_err(|error| self.at(number, error.to_string()))?);
                }
            }
        }
        self.close(name)
    }

    /// Writes the collected parts as one message item.
    fn close(&mut self, role: &str) -> Result<(), AnthropicHistoryError> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let parts = std::mem::take(&mut self.parts).join(",");
        let message = format!(r#"{{"type":"message","role":"{role}","content":[{parts}]}}"#);
        let item = Item::parse(message.into()).map_err(|error| self.error(error.to_string()))?;
        self.items.push(item);
        Ok(())
    }

    fn error(&self, reason: String) -> AnthropicHistoryError {
        AnthropicHistoryError::Message { message: self.number, reason }
    }

    fn at(&self, block: usize, reason: String) -> AnthropicHistoryError {
        AnthropicHistoryError::Block { message: self.number, block, reason }
    }
}
