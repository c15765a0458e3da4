//! A turn of the model: one assistant message, and the outputs of its calls.

use std::borrow::Cow;

use super::content::{Author, Content, EMPTY_TEXT};
use super::reasoning::Reasoning;
use super::{ChatOmissions, unsupported};
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{CallIds, RequestPath, Unsupported};
use crate::dialect::tools::FlatNames;
use crate::item::Kind;
use crate::json::{Object, quote, unquote};

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
        (position, kind, item): (usize, &Kind, &Object<'_>),
        names: &FlatNames,
        omissions: &mut ChatOmissions,
    ) -> Result<usize, Unsupported> {
        let (kind, input) = match kind {
            Kind::CustomToolCall => ("custom", "input"),
            _ => ("function", "arguments"),
        };
        omissions.leave_out_fields(
            position,
            item,
            &["type", "id", "status", "call_id", "name", "namespace", input],
        );
        let call_id = unique_call_id(&mut self.call_ids, string(item, "call_id", position)?);
        let mut called = Fields::new();
        called.raw("name", &name(item, names, string(item, "name", position)?));
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
    pub(super) fn write(mut self, messages: &mut Vec<String>, omissions: &mut ChatOmissions) {
        let refusal = self.content.take_refusal();
        let content = self.content.into_json();
        if content.is_none() && refusal.is_none() && self.calls.is_empty() {
            return self.reasoning.leave_out(omissions);
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

/// The raw name of a call's tool; `own` is the raw name in the item.
fn name<'a>(item: &Object<'_>, names: &FlatNames, own: &'a str) -> Cow<'a, str> {
    match item.string("namespace") {
        Some(namespace) => {
            let own = unquote(own).unwrap_or_default();
            quote(&names.flatten(&namespace, &own)).into()
        }
        None => own.into(),
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

/// The fields of an output. The call has the name of the tool.
const CARRIED: &[&str] = &["type", "id", "call_id", "output", "status", "name", "namespace"];

/// The text of an output that has only images, files or audio.
const FOLLOWS: &str = "The output follows in the next message.";

/// An output: its text, and the parts that a `tool` message cannot hold.
pub(super) struct Output {
    content: String,
    media: Vec<String>,
}

impl Output {
    /// The output at `position`.
    ///
    /// A `tool` message holds only text. Images, files and audio go into a user message after all
    /// outputs of the turn, labelled with their `call_id`, and are reported.
    pub(super) fn from_item(
        position: usize,
        item: &Object<'_>,
        omissions: &mut ChatOmissions,
    ) -> Result<Self, Unsupported> {
        omissions.leave_out_fields(position, item, CARRIED);
        let mut content = Content::parse(item.present("output"), Author::Tool, position, "output")?;
        let media = content.take_media();
        if !media.is_empty() {
            let because = "an output holds only text; the other parts follow in a user message";
            omissions.leave_out(RequestPath::Item(position, "output".into()), because);
        }
        let empty = if media.is_empty() { EMPTY_TEXT.to_owned() } else { format!("\"{FOLLOWS}\"") };
        Ok(Self { content: content.into_json().unwrap_or(empty), media })
    }

    /// The `tool` message with the output of the call with this raw id.
    pub(super) fn message(&self, call_id: &str) -> String {
        let mut message = Fields::new();
        message.raw("role", r#""tool""#).raw("tool_call_id", call_id);
        message.raw("content", &self.content).json()
    }

    /// The parts for the user message, after a label with the `call_id`.
    pub(super) fn into_media(self, call_id: &str) -> Vec<String> {
        if self.media.is_empty() {
            return self.media;
        }
        let call_id = unquote(call_id).unwrap_or_default();
        let label =
            Fields::with_type("text").string("text", &format!("Output of {call_id}:")).json();
        [vec![label], self.media].concat()
    }
}

/// The user message with the parts that `tool` messages cannot hold.
fn media_message(parts: &[String]) -> String {
    Fields::new().raw("role", r#""user""#).raw("content", &array(parts)).json()
}

/// OpenAI's limit for the id of a call, in characters. The Responses API allows 64, and clients
/// send ids that come from other servers.
const MAX_CALL_ID_LENGTH: usize = 40;

/// The length of an id's beginning that is used before a number.
const STEM_LENGTH: usize = 30;

/// The raw id for the next call. `call_id` is a raw JSON string.
///
/// An output refers to its call only by id, so the calls of a message need unique ids. Among items,
/// a function call and a custom tool call can have the same `call_id`. A free id is used unchanged.
/// If it is taken or too long, a number is appended to its beginning.
fn unique_call_id(ids: &mut CallIds, call_id: &str) -> String {
    let text = unquote(call_id).unwrap_or_else(|| call_id.into());
    let allowed = Some(&*text).filter(|text| text.chars().count() <= MAX_CALL_ID_LENGTH);
    let stem: String = text.chars().take(STEM_LENGTH).collect();
    let id = ids.next(allowed, &stem);
    if id == text { call_id.to_owned() } else { quote(&id) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn named(call_ids: &[&str]) -> Vec<String> {
        let mut ids = CallIds::default();
        call_ids.iter().map(|call_id| unique_call_id(&mut ids, &quote(call_id))).collect()
    }

    #[test]
    fn short_id_is_unchanged() {
        let longest = "é".repeat(MAX_CALL_ID_LENGTH);
        for call_id in ["call_1", "a \"b\"", longest.as_str()] {
            assert_eq!(named(&[call_id]), [quote(call_id)]);
        }
    }

    #[test]
    fn long_or_taken_id_gets_number() {
        let (one, two) = (format!("{}1", "x".repeat(60)), format!("{}2", "x".repeat(60)));
        let longest = "x".repeat(MAX_CALL_ID_LENGTH);
        let names = named(&[&longest, &one, &two, &longest]);
        let distinct: HashSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), 4);
        for name in &names {
            assert!(unquote(name).is_some_and(|name| name.chars().count() <= MAX_CALL_ID_LENGTH));
        }
    }
}
