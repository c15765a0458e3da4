//! The output of a call that nobody answered.

use crate::item::{CallId, Item, Kind};
use crate::json::quote;

/// What the model reads in place of an output.
pub(super) const SILENCE: &str = "No output was recorded for this call.";

/// An output that says that there is none; `None` for kinds whose output cannot be made up.
///
/// The shapes are those that the API's input items require. A computer's output is a screenshot and
/// an agent's its own, so those calls are left out instead.
pub(super) fn silence(kind: &Kind, call_id: &CallId) -> Option<Item> {
    let output = kind.output()?;
    let call_id = quote(call_id.as_str());
    let text = quote(SILENCE);
    let fields = match kind {
        Kind::FunctionCall | Kind::CustomToolCall => {
            format!(r#""call_id":{call_id},"output":{text}"#)
        }
        Kind::ShellCall => format!(
            r#""call_id":{call_id},"output":[{{"stdout":"","stderr":{text},"outcome":{{"type":"timeout"}}}}]"#
        ),
        Kind::LocalShellCall => {
            format!(r#""id":{call_id},"output":{text},"status":"incomplete""#)
        }
        Kind::ApplyPatchCall => {
            format!(r#""call_id":{call_id},"status":"failed","output":{text}"#)
        }
        Kind::ToolSearchCall => {
            format!(r#""call_id":{call_id},"tools":[],"status":"incomplete""#)
        }
        _ => return None,
    };
    let raw = format!(r#"{{"type":"{output}",{fields}}}"#);
    Some(Item::parse(raw.into()).expect("the text above is an item"))
}
