//! A real output for a call that a made-up one answered.

use crate::faults::MAX_ID_LENGTH;
use crate::item::{Item, Kind, Role};
use crate::json::{Object, quote};

/// What becomes of an output that comes late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateOutput {
    /// It takes the place of the made-up one, which is deleted.
    Replaces,
    /// It is told in a message, because nothing can be deleted.
    Told,
}

impl LateOutput {
    /// What was found, as reports name it.
    pub const FAULT: &'static str = "late_output";

    /// What was done, as reports name it.
    pub fn action(self) -> &'static str {
        match self {
            Self::Replaces => "replaces",
            Self::Told => "told",
        }
    }

    /// Both in a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::Replaces => {
                "The output came after its call had been answered with a made-up one, which was \
                 deleted."
            }
            Self::Told => {
                "The output came after its call had been answered with a made-up one, which cannot \
                 be deleted. A message of the user carries it."
            }
        }
    }
}

/// The message that carries `output`, which came late: it names the call, and holds what the output
/// holds. `None` for what is no output.
///
/// Text and the parts that messages have too stay what they are; what another kind of tool answers is
/// told as JSON. The same output always makes the same message, so that it is known when it comes
/// again. It is the user's: a tool's output must not speak with the authority of instructions.
pub fn message_of_late_output(output: &Item) -> Option<Item> {
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
/// How long a heading is at most, in bytes: the longest kind of call, and an id.
const LONGEST_HEADING: usize = BEGINNING.len() + 32 + 4 * MAX_ID_LENGTH + END.len();

/// Whether the item is a message that carries a late output.
pub(super) fn is_message_of_late_output(item: &Item) -> bool {
    if item.head().role != Some(Role::User) {
        return false;
    }
    let text = item.words();
    let end = || text.find(END).is_some_and(|at| at + END.len() <= LONGEST_HEADING);
    text.starts_with(BEGINNING) && end()
}

/// What a function or a shell put out, as parts of a message: the elements of their list. `None`
/// where a message has no such parts, or the output is more than what it says.
fn parts(output: &Item) -> Option<String> {
    let says_all = matches!(
        output.head().kind,
        Kind::FunctionCallOutput | Kind::CustomToolCallOutput | Kind::LocalShellCallOutput
    );
    let object = output.object();
    let raw = object.present("output").filter(|_| says_all)?;
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

/// The output as JSON, without what only names it.
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
