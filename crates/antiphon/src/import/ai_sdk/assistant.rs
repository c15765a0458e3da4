//! Converts assistant messages.

use super::{item_id, metadata_value, required_string};
use crate::import::output::{Call, Output, array, output_text, typed_object};
use crate::item::Kind;
use crate::json::{Object, quote};

/// Converts the parts of an assistant message. Texts with one id become one message, and pieces of
/// reasoning with one id become one item.
pub(super) fn convert(parts: &[Object<'_>], output: &mut Output) -> Result<(), String> {
    let mut open: Option<Open> = None;
    for (nth, part) in parts.iter().enumerate() {
        let kind = part.string("type").unwrap_or_default();
        let next = match &*kind {
            "text" => Some(Open::message(part)),
            "reasoning" => Open::reasoning(part).transpose(),
            _ => None,
        };
        if let Some(next) = next {
            let next = next.map_err(|reason| at(nth, &reason))?;
            open = match open.take() {
                Some(before) if before.continues(&next) => Some(before.join(next)),
                Some(before) => {
                    before.close(output)?;
                    Some(next)
                }
                None => Some(next),
            };
            continue;
        }
        if let Some(before) = open.take() {
            before.close(output)?;
        }
        other(&kind, part, output).map_err(|reason| at(nth, &reason))?;
    }
    open.map_or(Ok(()), |open| open.close(output))
}

fn at(nth: usize, reason: &str) -> String {
    format!("content[{nth}].{reason}")
}

fn other(kind: &str, part: &Object<'_>, output: &mut Output) -> Result<(), String> {
    match kind {
        "tool-call" if part.is_true("providerExecuted") => push_hosted_call(part, output),
        "tool-call" => call(part, output),
        // The item of a hosted call contains its result. An approval concerns only the program and
        // its user.
        "tool-result" | "tool-approval-request" => Ok(()),
        kind => {
            output.omit(kind);
            Ok(())
        }
    }
}

fn call(part: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let id = item_id(part);
    output.call(&Call {
        id: id.as_deref(),
        call_id: Some(required_string(part, "toolCallId")?),
        name: Some(required_string(part, "toolName")?),
        arguments: part.present("input").or(part.present("args")),
    })
}

/// A call that the provider executed. Only the id of its item is left.
fn push_hosted_call(part: &Object<'_>, output: &mut Output) -> Result<(), String> {
    let id = item_id(part).or_else(|| part.string("toolCallId").map(Into::into));
    let id = id.unwrap_or_default();
    let Some(kind) = hosted_kind(&id) else {
        output.omit("tool-call");
        return Ok(());
    };
    let mut item = typed_object(kind.as_str());
    item.set("id", quote(&id));
    item.set("status", r#""completed""#);
    output.push(&item)
}

/// The kind of a hosted call, by the prefix of its id.
fn hosted_kind(id: &str) -> Option<&'static Kind> {
    let (prefix, _) = id.split_once('_')?;
    Kind::ALL.iter().find(|kind| kind.is_hosted_call() && kind.id_prefix() == prefix)
}

/// An item to which the next part may belong.
struct Open {
    is_message: bool,
    id: Option<String>,
    parts: Vec<String>,
    encrypted: Option<String>,
}

impl Open {
    fn message(part: &Object<'_>) -> Result<Self, String> {
        let text = output_text(required_string(part, "text")?);
        Ok(Self { is_message: true, id: item_id(part), parts: vec![text], encrypted: None })
    }

    /// Returns `None` for reasoning with neither id, nor encrypted content, nor text.
    fn reasoning(part: &Object<'_>) -> Result<Option<Self>, String> {
        let text = required_string(part, "text")?;
        let encrypted = metadata_value(part, "reasoningEncryptedContent");
        let id = item_id(part);
        let has_text = text != r#""""#;
        if id.is_none() && encrypted.is_none() && !has_text {
            return Ok(None);
        }
        let parts =
            has_text.then(|| format!(r#"{{"type":"summary_text","text":{text}}}"#)).into_iter();
        Ok(Some(Self { is_message: false, id, parts: parts.collect(), encrypted }))
    }

    fn continues(&self, next: &Self) -> bool {
        self.id.is_some() && self.id == next.id && self.is_message == next.is_message
    }

    fn join(mut self, next: Self) -> Self {
        self.parts.extend(next.parts);
        self.encrypted = next.encrypted.or(self.encrypted);
        self
    }

    fn close(self, output: &mut Output) -> Result<(), String> {
        let mut item = typed_object(if self.is_message { "message" } else { "reasoning" });
        if let Some(id) = &self.id {
            item.set("id", quote(id));
        }
        if self.is_message {
            item.set("role", r#""assistant""#);
            item.set("content", array(&self.parts));
        } else {
            item.set("summary", array(&self.parts));
        }
        if let Some(encrypted) = &self.encrypted {
            item.set("encrypted_content", quote(encrypted));
        }
        output.push(&item)
    }
}
