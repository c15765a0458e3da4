//! Converts UI messages.

use serde_json::value::RawValue;

use super::{assistant, content};
use crate::import::output::Output;
use crate::json::{Object, quote};

/// Converts a UI message as the SDK's `convertToModelMessages` does: for each step first the texts
/// and calls of the model, then the outputs of the calls. Like the SDK, leaves out a call whose
/// input is incomplete.
pub(in crate::import) fn convert_ui_message(raw: &str, output: &mut Output) -> Result<(), String> {
    let message = Object::parse_str(raw).map_err(|error| error.to_string())?;
    let parts = message.present("parts").ok_or("parts: an array is expected")?;
    let raws: Vec<&RawValue> =
        serde_json::from_str(parts).map_err(|_| "parts: an array is expected".to_owned())?;
    let mut parts = Vec::with_capacity(raws.len());
    for (nth, raw) in raws.iter().enumerate() {
        parts.push(
            Object::parse_str(raw.get()).map_err(|_| format!("parts[{nth}]: not an object"))?,
        );
    }
    match message.string("role").as_deref() {
        Some("assistant") => assistant_message(&parts, output),
        Some("system") => output.message("system", &content::joined_texts(&parts)),
        Some("user") => {
            let content = content::input_parts(&parts, output)?;
            output.message("user", &content)
        }
        _ => Err("role: system, user or assistant is expected".to_owned()),
    }
}

fn assistant_message(parts: &[Object<'_>], output: &mut Output) -> Result<(), String> {
    let is_start = |part: &Object<'_>| part.string("type").as_deref() == Some("step-start");
    parts.split(is_start).try_for_each(|step| convert_step(step, output))
}

fn convert_step(parts: &[Object<'_>], output: &mut Output) -> Result<(), String> {
    let mut reply = Vec::with_capacity(parts.len());
    let mut results = Vec::new();
    for part in parts {
        let kind = part.string("type").unwrap_or_default();
        match ToolPart::parse(&kind, part) {
            Some(tool) if tool.is_streaming() => {}
            Some(tool) => {
                reply.push(tool.call());
                results.push(tool);
            }
            None if kind.starts_with("source") => {}
            None => reply.push(part.clone()),
        }
    }
    assistant::convert(&reply, output)?;
    results.iter().try_for_each(|tool| tool.push_output(output))
}

/// A part with a call and, if there is one, its output.
struct ToolPart<'a> {
    name: String,
    part: Object<'a>,
}

impl<'a> ToolPart<'a> {
    fn parse(kind: &str, part: &Object<'a>) -> Option<Self> {
        if kind == "tool-invocation" {
            // In version 4, the call is one level deeper.
            let raw = part.get("toolInvocation")?.to_owned();
            let inner = Object::parse_str(&raw).ok()?;
            let fields = inner.iter().map(|(name, raw)| (name.to_owned(), raw.to_owned()));
            let mut part = Object::default();
            fields.for_each(|(name, raw)| part.set(name, raw));
            let name = part.string("toolName").unwrap_or_default().into_owned();
            return Some(Self { name, part });
        }
        part.present("toolCallId")?;
        let name = match kind {
            "dynamic-tool" => part.string("toolName")?.into_owned(),
            kind => kind.strip_prefix("tool-")?.to_owned(),
        };
        Some(Self { name, part: part.clone() })
    }

    fn state(&self) -> String {
        self.part.string("state").unwrap_or_default().into_owned()
    }

    fn is_streaming(&self) -> bool {
        matches!(&*self.state(), "input-streaming" | "partial-call")
    }

    /// The call alone, as a part of a model message.
    fn call(&self) -> Object<'a> {
        let mut call = self.part.clone();
        call.set("type", r#""tool-call""#);
        call.set("toolName", quote(&self.name));
        if call.present("input").is_none()
            && let Some(raw) = call.present("rawInput").map(str::to_owned)
        {
            call.set("input", raw);
        }
        call
    }

    fn push_output(&self, output: &mut Output) -> Result<(), String> {
        if self.part.is_true("providerExecuted") {
            return Ok(());
        }
        let text = match &*self.state() {
            "output-available" => content::ui_output(self.part.present("output")),
            "result" => content::ui_output(self.part.present("result")),
            "output-error" => content::ui_output(self.part.present("errorText")),
            "output-denied" => quote("Tool call execution denied."),
            _ => return Ok(()),
        };
        let call_id = self.part.get("toolCallId").unwrap_or(r#""""#);
        output.output(call_id, &text)
    }
}
