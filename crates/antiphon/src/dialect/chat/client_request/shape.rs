//! The errors for messages that OpenAI would reject too.

use super::RequestDecoder;
use super::field::{Field, Fields};
use crate::dialect::InvalidRequest;

const ROLES: [&str; 6] = ["system", "assistant", "user", "function", "tool", "developer"];

const CONTENT: &str = "one of a string or array of objects";

/// Checks the messages, and returns them. Reports names of authors, which an item cannot have.
pub(super) fn check_messages<'a>(
    request: &'a Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<Vec<Field<'a>>, InvalidRequest> {
    let list = request.required("messages")?;
    let messages = list.array("an array of objects")?;
    if messages.is_empty() {
        return Err(list.empty_array());
    }
    for message in &messages {
        check_message(&message.object()?, decoder)?;
    }
    Ok(messages)
}

fn check_message(message: &Fields<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let role = message.required("role")?.one_of(&ROLES)?;
    if let Some(content) = message.present("content") {
        check_content(&content)?;
    } else if role != "assistant" {
        message.required("content")?;
    }
    if role == "tool" {
        message.required("tool_call_id")?.string()?;
    }
    if let Some(calls) = message.present("tool_calls") {
        for call in calls.array("an array of objects")? {
            check_call(&call.object()?)?;
        }
    }
    if let Some(name) = message.present("name").filter(|_| role != "function") {
        decoder.leave_out(name.path(), "an item has no name of its author");
    }
    Ok(())
}

fn check_content(content: &Field<'_>) -> Result<(), InvalidRequest> {
    if content.raw().starts_with('"') {
        return Ok(());
    }
    for part in content.array(CONTENT)? {
        part.object()?.required("type")?.string()?;
    }
    Ok(())
}

fn check_call(call: &Fields<'_>) -> Result<(), InvalidRequest> {
    call.required("id")?.string()?;
    // Some clients omit the type.
    let kind = call.present("type");
    let kind = kind.map_or(Ok("function"), |kind| kind.one_of(&["function", "custom"]))?;
    let called = call.required(kind)?.object()?;
    called.required("name")?.string()?;
    called.required(if kind == "function" { "arguments" } else { "input" })?.string()?;
    Ok(())
}
