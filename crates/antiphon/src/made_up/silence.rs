//! The output of a call that nobody answered.

use crate::item::{CallId, Item, Kind};
use crate::json::quote;

/// What the model reads in place of an output.
pub(super) const SILENCE: &str = "No output was recorded for this call.";

/// An output that says that there is none, for calls of one kind.
pub(crate) struct Silence {
    output: Kind,
    /// The field that names the call.
    names_call: &'static str,
    fields: String,
}

/// How a call of `kind` is answered with silence; `None` where its output cannot be made up.
///
/// The shapes are those that the API's input items require. A computer's output is a screenshot and
/// a program's or an agent's its own, so those calls are left out instead.
pub(crate) fn silence(kind: &Kind) -> Option<Silence> {
    let text = quote(SILENCE);
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
    let names_call = match kind {
        Kind::LocalShellCall => "id",
        _ => "call_id",
    };
    Some(Silence { output: kind.output()?, names_call, fields })
}

impl Silence {
    /// The output for one call.
    pub(crate) fn to(&self, call_id: &CallId) -> Item {
        let (kind, call_id) = (quote(self.output.as_str()), quote(call_id.as_str()));
        let (names_call, fields) = (self.names_call, &self.fields);
        let raw = format!(r#"{{"type":{kind},"{names_call}":{call_id},{fields}}}"#);
        Item::parse(raw.into()).expect("the text above is an item")
    }
}

/// Whether an output says what is made up for its call, in whatever form it came back.
///
/// What a made-up output carries has to stand in it: an output that a client abridged is its own.
pub(crate) fn is_silence(output: &Item) -> bool {
    let head = output.head();
    let (Some(kind), Some(call_id)) = (head.kind.call(), &head.call_id) else { return false };
    silence(&kind).is_some_and(|silence| {
        let (silence, given) = (silence.to(call_id), output.object());
        let names = |key: &str| matches!(key, "type" | "id" | "call_id" | "status");
        let says_all =
            silence.object().iter().all(|(key, _)| names(key) || given.present(key).is_some());
        says_all && silence.says_the_same_as(output)
    })
}
