//! The placeholder output for a call that nobody answered.

use crate::item::{CallId, Item, Kind};
use crate::json::quote;

/// The text that the model reads in place of an output.
pub(super) const PLACEHOLDER_TEXT: &str = "No output was recorded for this call.";

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
    pub(crate) fn with_text(&self, call_id: &CallId, text: &str) -> Item {
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
