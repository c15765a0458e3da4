//! Placeholder outputs for unanswered calls, and the real outputs that arrive later.
//!
//! A provider that stores a conversation refuses every further turn until each call has an output.
//! So an unanswered call gets a placeholder that states that no output was recorded. If the real
//! output arrives later, it replaces the placeholder if the provider can delete items. Otherwise a
//! user message carries it.
//!
//! ```
//! use antiphon::Item;
//! use antiphon::placeholder::{is_placeholder_item, late_output_message};
//! use antiphon::repair::repair;
//!
//! let call = r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"}"#;
//! let repaired = repair(&[Item::parse(call.into()).unwrap()]);
//! assert!(is_placeholder_item(&repaired.items[1]));
//!
//! let late = r#"{"type":"function_call_output","call_id":"call_1","output":"20 degrees"}"#;
//! let message = late_output_message(&Item::parse(late.into()).unwrap()).unwrap();
//! assert!(message.text().contains("20 degrees"));
//! ```

#[cfg(test)]
mod tests;

use crate::faults::MAX_ID_LENGTH;
use crate::item::{CallId, CallKey, Item, Kind, Role};
use crate::json::{Object, quote};

/// Whether Antiphon created the item: a placeholder output, or a message that carries a late
/// output.
///
/// Used for items that a provider lists, to give them
/// [Antiphon's origin](crate::Origin::placeholder).
pub fn is_placeholder_item(item: &Item) -> bool {
    is_placeholder(item) || is_carrier(item)
}

/// The text that the model reads in place of an output.
pub(crate) const PLACEHOLDER_TEXT: &str = "No output was recorded for this call.";

/// The end of a shell command that nobody ran, and of one that did not succeed.
const TIMEOUT: &str = r#"{"type":"timeout"}"#;
const FAILURE: &str = r#"{"type":"exit","exit_code":1}"#;

/// The placeholder output for calls of one kind.
pub(crate) struct Placeholder {
    output: Kind,
    /// The fields except `type` and call id, with `{text}` and `{outcome}` for values.
    fields: &'static str,
}

/// Returns the placeholder output for calls of `kind`; `None` if there is none.
pub(crate) fn placeholder(kind: &Kind) -> Option<Placeholder> {
    let output = kind.output()?;
    let fields = output.placeholder_fields()?;
    Some(Placeholder { output, fields })
}

impl Placeholder {
    /// The placeholder for one call.
    pub(crate) fn for_call(&self, call_id: &CallId) -> Item {
        self.output(call_id, PLACEHOLDER_TEXT, TIMEOUT)
    }

    /// An output with another text for one call, which counts as failed.
    fn with_text(&self, call_id: &CallId, text: &str) -> Item {
        self.output(call_id, text, FAILURE)
    }

    fn output(&self, call_id: &CallId, text: &str, outcome: &str) -> Item {
        let (kind, call_id) = (quote(self.output.as_str()), quote(call_id.as_str()));
        let call_id_field = self.output.call_id_field().name(false);
        let fields = self.fields.replace("{outcome}", outcome).replace("{text}", &quote(text));
        let raw = format!(r#"{{"type":{kind},"{call_id_field}":{call_id},{fields}}}"#);
        Item::parse(raw.into()).expect("the text above is an item")
    }
}

/// Creates an output with `text` for a call that failed or was not executed. `None` if its kind has
/// no placeholder output: a computer call, for example, needs a screenshot.
pub fn create_failed_output(call: &CallKey, text: &str) -> Option<Item> {
    Some(placeholder(&call.kind)?.with_text(&call.call_id, text))
}

/// Whether an output has the content of the placeholder for its call, possibly in another form.
///
/// It has to have every field of the placeholder: an output with fewer fields is the client's own.
pub(crate) fn is_placeholder(output: &Item) -> bool {
    let head = output.head();
    let (Some(kind), Some(call_id)) = (head.kind.call(), &head.call_id) else { return false };
    placeholder(&kind).is_some_and(|placeholder| {
        let (placeholder, given) = (placeholder.for_call(call_id), output.object());
        let names = |key: &str| matches!(key, "type" | "id" | "call_id" | "status");
        let says_all =
            placeholder.object().iter().all(|(key, _)| names(key) || given.present(key).is_some());
        says_all && placeholder.has_same_content(output)
    })
}

/// How a late output enters the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateOutput {
    /// It replaces the placeholder, which is deleted.
    Replaces,
    /// A user message carries it, because the provider deletes nothing.
    CarriedByMessage,
}

impl LateOutput {
    /// The finding's name in reports.
    pub const FAULT: &'static str = "late_output";

    /// The action's name in reports.
    pub fn action(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::CarriedByMessage => "told",
        }
    }

    /// Finding and action as a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::Replaces => {
                "The output arrived after a placeholder had answered its call. The placeholder was \
                 deleted."
            }
            Self::CarriedByMessage => {
                "The output arrived after a placeholder had answered its call. The placeholder \
                 cannot be deleted, so a user message carries the output."
            }
        }
    }
}

/// Builds the message that carries the late `output`: a heading that names the call, then the
/// content of the output. Returns `None` if the item is not an output.
///
/// Text stays text, and parts that messages can have stay parts. Outputs of other kinds of tools
/// become JSON.
/// Equal outputs result in equal messages, so that a resent output is recognized. The message has
/// the role `user`, because a tool output must not have the authority of instructions.
pub fn late_output_message(output: &Item) -> Option<Item> {
    let head = output.head();
    let call = head.kind.call()?;
    let call_id = head.call_id.as_ref().map_or("", |call_id| call_id.as_str());
    let call_id: String = call_id.chars().take(MAX_ID_LENGTH).collect();
    let heading = format!("{BEGINNING}{} {call_id}{END}", call.as_str().replace('_', " "));
    let parts = parts(output).unwrap_or_else(|| input_text(&fields(output)));
    let comma = if parts.is_empty() { "" } else { "," };
    let raw = format!(
        r#"{{"type":"message","role":"user","content":[{}{comma}{parts}]}}"#,
        input_text(&heading)
    );
    Some(Item::parse(raw.into()).expect("the text above is an item"))
}

const BEGINNING: &str = "Late output of the ";
const END: &str = ", in the place of \"No output was recorded for this call.\":\n\n";
/// The length limit of a heading in bytes: the longest kind of call, and an id.
const LONGEST_HEADING: usize = BEGINNING.len() + 32 + 4 * MAX_ID_LENGTH + END.len();

/// Whether the item is a message that carries a late output.
fn is_carrier(item: &Item) -> bool {
    if item.head().role != Some(Role::User) {
        return false;
    }
    let text = item.words();
    let end = || text.find(END).is_some_and(|at| at + END.len() <= LONGEST_HEADING);
    text.starts_with(BEGINNING) && end()
}

/// The output of a function or a shell as message parts, without the brackets of their array.
/// Returns `None` if a message cannot have such parts, or if the item has more content than its
/// `output`.
fn parts(output: &Item) -> Option<String> {
    let field = output.head().kind.text_field()?;
    let object = output.object();
    let raw = object.present(field.name())?;
    if let Some(text) = crate::json::unquote(raw) {
        return Some(input_text(&text));
    }
    let parts: Vec<Object<'_>> = serde_json::from_str(raw).ok()?;
    parts.iter().all(is_part_of_a_message).then(|| raw.trim()[1..raw.trim().len() - 1].to_owned())
}

fn is_part_of_a_message(part: &Object<'_>) -> bool {
    let kind = part.string("type");
    matches!(kind.as_deref(), Some("input_text" | "input_image" | "input_file"))
}

/// The output as JSON, without its ids.
fn fields(output: &Item) -> String {
    let named = output.with(|object| {
        object.remove("id");
        object.remove("call_id");
    });
    named.text().to_owned()
}

fn input_text(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":{}}}"#, quote(text))
}
