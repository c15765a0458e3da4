//! Checks the form of the messages, with the texts of Anthropic's errors.

use super::RequestDecoder;
use super::field::{Field, Fields, invalid};
use crate::dialect::InvalidRequest;

/// Checks each message by itself.
pub(super) fn check_messages(
    request: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let messages = request.required("messages")?;
    let list = messages.array()?;
    if list.is_empty() {
        return Err(invalid("messages", "at least one message is required"));
    }
    list.iter().try_for_each(|message| check_message(message, decoder))
}

fn check_message(message: &Field<'_>, decoder: &mut RequestDecoder) -> Result<(), InvalidRequest> {
    let fields = message.object()?;
    let role = fields.required("role")?.text()?;
    if !["user", "assistant", "system"].contains(&&*role) {
        let sentence =
            format!("Unexpected role \"{role}\". Allowed roles are \"user\" or \"assistant\".");
        return Err(invalid("messages", &sentence));
    }
    let content = fields.required("content")?;
    if content.is_text() {
        return Ok(());
    }
    for block in content.array()? {
        check_block(message.path(), &role, &block.object()?, decoder)?;
    }
    Ok(())
}

fn check_block(
    message: &str,
    role: &str,
    block: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    let kind = block.kind()?;
    let typed = block.typed(&kind);
    let owner = match &*kind {
        "text" => {
            typed.required("text")?.text()?;
            return Ok(());
        }
        "tool_use" => {
            typed.required("id")?.text()?;
            typed.required("name")?.text()?;
            typed.required("input")?.object()?;
            "assistant"
        }
        "thinking" => {
            typed.required("thinking")?.text()?;
            "assistant"
        }
        "redacted_thinking" => {
            typed.required("data")?.text()?;
            "assistant"
        }
        "tool_result" => {
            check_result(block.path(), &typed, decoder)?;
            "user"
        }
        "image" | "document" => {
            typed.required("source")?.object()?.kind()?;
            "user"
        }
        _ => return Ok(()),
    };
    match role == owner {
        true => Ok(()),
        false => {
            Err(invalid(message, &format!("`{kind}` blocks can only be in `{owner}` messages")))
        }
    }
}

/// Checks a result. Items have no field for `is_error`.
fn check_result(
    path: &str,
    result: &Fields<'_>,
    decoder: &mut RequestDecoder,
) -> Result<(), InvalidRequest> {
    result.required("tool_use_id")?.text()?;
    let content = result.present("content");
    if let Some(content) = content.filter(|content| !content.is_text()) {
        for block in content.array()? {
            let block = block.object()?;
            let kind = block.kind()?;
            if kind == "text" {
                block.typed(&kind).required("text")?.text()?;
            }
        }
    }
    let is_error = result.present("is_error");
    if is_error.map(|field| field.boolean()).transpose()? == Some(true) {
        decoder.leave_out(&format!("{path}.is_error"), "the content of the result tells it");
    }
    Ok(())
}
