//! The rules for each message alone.

use super::content;
use super::field::Field;
use crate::Refusal;

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];
const NAME_LENGTH: usize = 64;
const CALL_ID_LENGTH: usize = 40;

/// A message that is valid on its own.
pub(super) struct Message<'a> {
    pub(super) index: usize,
    pub(super) role: &'a str,
    /// The ids of an assistant's tool calls, without duplicates.
    pub(super) calls: Vec<&'a str>,
    /// The id of the call that a tool message answers.
    pub(super) answers: Option<&'a str>,
    pub(super) reasoning_content: Option<&'a str>,
}

impl<'a> Message<'a> {
    pub(super) fn read((index, message): (usize, Field<'a>)) -> Result<Self, Refusal> {
        message.object()?;
        let role = message.required("role")?.one_of(&ROLES)?;
        message.only(fields(role))?;
        content::check(index, role, &message)?;
        let answers = match role {
            "tool" => Some(message.required("tool_call_id")?.text()?),
            _ => None,
        };
        let reasoning = message.present("reasoning_content");
        let reasoning_content = reasoning.map(|reasoning| reasoning.text()).transpose()?;
        Ok(Self { index, role, calls: calls(index, &message)?, answers, reasoning_content })
    }
}

fn fields(role: &str) -> &'static [&'static str] {
    match role {
        "assistant" => &[
            "role",
            "content",
            "name",
            "refusal",
            "audio",
            "annotations",
            "tool_calls",
            "function_call",
            // A field of DeepSeek's API.
            "reasoning_content",
        ],
        "tool" => &["role", "content", "name", "tool_call_id"],
        _ => &["role", "content", "name"],
    }
}

fn calls<'a>(index: usize, message: &Field<'a>) -> Result<Vec<&'a str>, Refusal> {
    let Some(calls) = message.present("tool_calls") else {
        return Ok(Vec::new());
    };
    let mut ids = Vec::new();
    for call in calls.array()? {
        let id = call_id(&call)?;
        if ids.contains(&id) {
            return Err(Refusal::tool_call_twice(index, id));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Checks a call and returns its id.
fn call_id<'a>(call: &Field<'a>) -> Result<&'a str, Refusal> {
    let id = call.required("id")?;
    id.at_most(CALL_ID_LENGTH)?;
    let kind = call.required("type")?.one_of(&["function", "custom"])?;
    let tool = call.required(kind)?;
    tool.required("name")?.name(NAME_LENGTH)?;
    let input = if kind == "function" { "arguments" } else { "input" };
    tool.required(input)?.text()?;
    tool.only(&["name", input])?;
    call.only(&["id", "type", kind])?;
    match id.text()? {
        "" => Err(Refusal::empty_string(id.param()).for_chat()),
        id => Ok(id),
    }
}
