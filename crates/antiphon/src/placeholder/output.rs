//! The placeholder output for a call that nobody answered.

use crate::item::{CallId, Item, Kind};
use crate::json::quote;

/// The text that the model reads in place of an output.
pub(super) const PLACEHOLDER_TEXT: &str = "No output was recorded for this call.";

/// The placeholder output for calls of one kind.
pub(crate) struct Placeholder {
    output: Kind,
    /// The field that contains the call's `call_id`.
    call_id_field: &'static str,
    fields: String,
}

/// Returns the placeholder output for calls of `kind`; `None` if there is none.
///
/// The shapes are those that the API requires of input items. A computer's output is a screenshot,
/// and the outputs of programs and agents have a form of their own, so there is no placeholder for
/// them.
pub(crate) fn placeholder(kind: &Kind) -> Option<Placeholder> {
    let text = quote(PLACEHOLDER_TEXT);
    let fields = match kind {
        Kind::FunctionCall | Kind::CustomToolCall => format!(r#""output":{text}"#),
        Kind::ShellCall => {
            format!(r#""output":[{{"stdout":"","stderr":{text},"outcome":{{"type":"timeout"}}}}]"#)
        }
        Kind::LocalShellCall => format!(r#""output":{text},"status":"incomplete""#),
        Kind::ApplyPatchCall => format!(r#""status":"failed","output":{text}"#),
        Kind::ToolSearchCall => r#""tools":[],"status":"incomplete""#.to_owned(),
        _ => return None,
    };
    let call_id_field = match kind {
        Kind::LocalShellCall => "id",
        _ => "call_id",
    };
    Some(Placeholder { output: kind.output()?, call_id_field, fields })
}

impl Placeholder {
    /// The placeholder for one call.
    pub(crate) fn for_call(&self, call_id: &CallId) -> Item {
        let (kind, call_id) = (quote(self.output.as_str()), quote(call_id.as_str()));
        let (call_id_field, fields) = (self.call_id_field, &self.fields);
        let raw = format!(r#"{{"type":{kind},"{call_id_field}":{call_id},{fields}}}"#);
        Item::parse(raw.into()).expect("the text above is an item")
    }
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
