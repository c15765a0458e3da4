//! The rules for each message alone.

use serde_json::Value;

use super::block;
use super::field::Field;
use crate::Refusal;

/// A message that is valid on its own.
pub(super) struct Message<'a> {
    pub(super) index: usize,
    pub(super) role: Role,
    pub(super) content: &'a Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

/// A block and its path.
pub(super) struct Block<'a> {
    pub(super) place: String,
    pub(super) value: &'a Value,
}

pub(super) fn read_all<'a>(request: &Field<'a>) -> Result<Vec<Message<'a>>, Refusal> {
    let messages = request.required("messages")?.array()?;
    let count = messages.len();
    let messages: Vec<Message<'a>> = messages
        .into_iter()
        .enumerate()
        .map(|(index, message)| Message::read(index, index + 1 == count, &message))
        .collect::<Result<_, _>>()?;
    match messages.first().map(|message| message.role) {
        None => Err(Refusal::no_messages()),
        Some(Role::Assistant) => Err(Refusal::first_message_not_of_user()),
        Some(Role::User) => Ok(messages),
    }
}

impl<'a> Message<'a> {
    fn read(index: usize, is_last: bool, message: &Field<'a>) -> Result<Self, Refusal> {
        message.object()?;
        let role = role(message)?;
        let content = message.required("content")?;
        message.only(&["role", "content"])?;
        if !content.value().is_string() {
            content.array()?.iter().try_for_each(|it| role.check_block(index, it))?;
        }
        let is_empty =
            content.value() == "" || content.value().as_array().is_some_and(Vec::is_empty);
        if is_empty && !(is_last && role == Role::Assistant) {
            return Err(Refusal::empty_message(index));
        }
        Ok(Self { index, role, content: content.value() })
    }

    /// The content blocks; empty if the content is a string.
    pub(super) fn blocks(&self) -> impl DoubleEndedIterator<Item = Block<'a>> {
        let index = self.index;
        let blocks = self.content.as_array().map(Vec::as_slice).unwrap_or_default();
        blocks.iter().enumerate().map(move |(number, value)| Block {
            place: format!("messages.{index}.content.{number}"),
            value,
        })
    }

    pub(super) fn blocks_of(&self, kind: &'static str) -> impl Iterator<Item = Block<'a>> {
        self.blocks().filter(move |block| block.kind() == kind)
    }
}

impl<'a> Block<'a> {
    pub(super) fn kind(&self) -> &'a str {
        self.text("type")
    }

    /// A string field; empty if absent.
    pub(super) fn text(&self, field: &str) -> &'a str {
        self.value[field].as_str().unwrap_or_default()
    }
}

impl Role {
    /// Checks a block and that this role may send it.
    fn check_block(self, index: usize, block: &Field<'_>) -> Result<(), Refusal> {
        let kind = block::check(block, &block::KINDS)?;
        match (self, kind) {
            (Self::User, "tool_use" | "thinking" | "redacted_thinking") => {
                Err(Refusal::block_of_other_role(index, kind, "assistant"))
            }
            (Self::Assistant, "tool_result" | "image" | "document") => {
                Err(Refusal::block_of_other_role(index, kind, "user"))
            }
            _ => Ok(()),
        }
    }
}

fn role(message: &Field<'_>) -> Result<Role, Refusal> {
    match message.required("role")?.text()? {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Err(Refusal::system_is_no_role()),
        role => Err(Refusal::unexpected_role(role)),
    }
}
