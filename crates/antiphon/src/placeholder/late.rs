//! Real outputs for calls that a placeholder answered.

use crate::faults::MAX_ID_LENGTH;
use crate::item::{Item, Role};
use crate::json::{Object, quote};

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
pub(super) fn is_carrier(item: &Item) -> bool {
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
