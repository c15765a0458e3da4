//! A turn of the model: one assistant message, and the outputs of its calls.

use super::call_ids::CallIds;
use super::content::{Content, EMPTY_TEXT};
use super::output::{Output, media_message};
use super::reasoning::Reasoning;
use super::report::{Report, unsupported};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::item::Kind;
use crate::json::{Object, unquote};

/// One assistant message from adjacent items, and the outputs of its calls.
///
/// ```text
///   reasoning, message, calls (in any order) ──> open ── an output of a call ──> answered
/// ```
///
/// An answered turn cannot grow: later output of the model may depend on the tool outputs.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) reasoning: Reasoning,
    content: Content,
    calls: Vec<Call>,
    call_ids: CallIds,
    is_answered: bool,
}

struct Call {
    /// The id, as raw JSON.
    call_id: String,
    /// The fields except `extra_content`.
    fields: Fields,
    output: Option<Output>,
}

impl Turn {
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Appends text of the model.
    pub(super) fn add_text(&mut self, content: Content) {
        self.content.append(content);
    }

    /// Appends a call, and returns its index in the turn.
    pub(super) fn call(
        &mut self,
        position: usize,
        kind: &Kind,
        item: &Object<'_>,
        report: &mut Report,
    ) -> Result<usize, Unsupported> {
        let (kind, input) = match kind {
            Kind::CustomToolCall => ("custom", "input"),
            _ => ("function", "arguments"),
        };
        report.leave_out_fields(
            position,
            item,
            &["type", "id", "status", "call_id", "name", input],
        );
        let call_id = self.call_ids.next(string(item, "call_id", position)?);
        let mut called = Fields::new();
        called.raw("name", string(item, "name", position)?);
        called.raw(input, string(item, input, position)?);
        let mut json = Fields::new();
        json.raw("id", &call_id).string("type", kind).raw(kind, &called.json());
        self.calls.push(Call { call_id, fields: json, output: None });
        Ok(self.calls.len() - 1)
    }

    /// Records the output of the `nth` call.
    pub(super) fn set_output(&mut self, nth: usize, output: Output) {
        self.calls[nth].output = Some(output);
        self.is_answered = true;
    }

    /// Writes the assistant message, a `tool` message for every output in the order of the calls,
    /// and a user message for the parts that `tool` messages cannot hold.
    pub(super) fn write(mut self, messages: &mut Vec<String>, report: &mut Report) {
        let refusal = self.content.take_refusal();
        let content = self.content.into_json();
        if content.is_none() && refusal.is_none() && self.calls.is_empty() {
            return self.reasoning.leave_out(report);
        }
        let is_blank = |content: &String| !self.calls.is_empty() && content == EMPTY_TEXT;
        let content = content.filter(|content| !is_blank(content));
        let mut message = Fields::new();
        message.string("role", "assistant").raw("content", content.as_deref().unwrap_or("null"));
        message.present("refusal", refusal.as_deref());
        self.reasoning.write(&mut message);
        if !self.calls.is_empty() {
            let calls = self.calls.iter_mut().map(|call| call.json(&self.reasoning));
            message.raw("tool_calls", &array(calls));
        }
        messages.push(message.json());
        write_outputs(self.calls, messages);
    }
}

impl Call {
    /// The call with its `extra_content`, which its server requires.
    fn json(&mut self, reasoning: &Reasoning) -> String {
        let call_id = unquote(&self.call_id).unwrap_or_default();
        self.fields.present("extra_content", reasoning.extra_content(&call_id)).json()
    }
}

fn write_outputs(calls: Vec<Call>, messages: &mut Vec<String>) {
    let mut media = Vec::new();
    for Call { call_id, output, .. } in calls {
        if let Some(output) = output {
            messages.push(output.message(&call_id));
            media.extend(output.into_media(&call_id));
        }
    }
    if !media.is_empty() {
        messages.push(media_message(&media));
    }
}

/// A string that a call must have.
fn string<'a>(item: &'a Object<'_>, field: &str, position: usize) -> Result<&'a str, Unsupported> {
    let value = item.get(field).filter(|raw| raw.starts_with('"'));
    value.ok_or_else(|| {
        let place = RequestPath::Item(position, field.to_owned());
        unsupported(place, "a call must have it, as a string")
    })
}
