//! Converts the calls of a history.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::{Decoder, Flaw, string};
use crate::dialect::chat::fields::Fields;
use crate::item::Kind;
use crate::json::{Object, quote, unquote};

/// The latest calls, for finding the call of an output.
#[derive(Default)]
pub(super) struct Calls {
    /// The kind of each call, by `id`.
    by_id: HashMap<String, Kind>,
    /// The generated ids of `function_call`s, by the name of the function.
    by_name: HashMap<String, String>,
}

impl Calls {
    /// The kind of output for the latest call with this id; a function's output if it is unknown.
    pub(super) fn output_kind(&self, call_id: &str) -> Kind {
        let kind = self.by_id.get(call_id).and_then(Kind::output);
        kind.unwrap_or(Kind::FunctionCallOutput)
    }

    /// The id of the latest `function_call` of this function.
    pub(super) fn function(&self, name: &str) -> Option<String> {
        self.by_name.get(name).cloned()
    }
}

impl Decoder<'_> {
    /// Converts the calls of a message into items.
    pub(super) fn convert_calls(&mut self, message: &Object<'_>) -> Result<Vec<String>, Flaw> {
        let calls = message.present("tool_calls").unwrap_or("[]");
        let calls: Vec<&RawValue> = serde_json::from_str(calls)
            .map_err(|_| Flaw::new(".tool_calls", "expected an array"))?;
        let mut items = Vec::with_capacity(calls.len());
        for (nth, call) in calls.iter().enumerate() {
            items.push(self.call(call.get(), &format!(".tool_calls[{nth}]"))?);
        }
        if let Some(call) = message.present("function_call") {
            items.push(self.function_call(call)?);
        }
        Ok(items)
    }

    fn call(&mut self, raw: &str, path: &str) -> Result<String, Flaw> {
        let call = object(raw, path)?;
        let call_id = string(&call, "id", path)?;
        let (kind, called, input) = match call.string("type").as_deref() {
            Some("custom") => (Kind::CustomToolCall, "custom", "input"),
            // Some servers omit the type.
            Some("function") | None => (Kind::FunctionCall, "function", "arguments"),
            Some(kind) => {
                let reason = format!("expected function or custom, got '{kind}'");
                return Err(Flaw::new(format!("{path}.type"), reason));
            }
        };
        let path = format!("{path}.{called}");
        let called = object(call.get(called).unwrap_or_default(), &path)?;
        let item = item(&kind, call_id, &called, input, &path)?;
        self.calls.by_id.insert(unquote(call_id).unwrap_or_default().into_owned(), kind);
        Ok(item)
    }

    /// Converts a `function_call`. Its id comes from the position of its item.
    fn function_call(&mut self, raw: &str) -> Result<String, Flaw> {
        let called = object(raw, ".function_call")?;
        let call_id = format!("call_{}", self.items.len());
        let kind = Kind::FunctionCall;
        let item = item(&kind, &quote(&call_id), &called, "arguments", ".function_call")?;
        let name = called.string("name").unwrap_or_default().into_owned();
        self.calls.by_name.insert(name, call_id);
        Ok(item)
    }
}

fn item(
    kind: &Kind,
    call_id: &str,
    called: &Object<'_>,
    input: &str,
    path: &str,
) -> Result<String, Flaw> {
    let mut item = Fields::with_type(kind.as_str());
    item.raw("call_id", call_id).raw("name", string(called, "name", path)?);
    Ok(item.raw(input, string(called, input, path)?).json())
}

fn object<'a>(raw: &'a str, path: &str) -> Result<Object<'a>, Flaw> {
    Object::parse(raw.as_bytes()).map_err(|_| Flaw::new(path, "expected an object"))
}
