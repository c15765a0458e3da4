//! One Responses request, parsed for the model.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::SimError;
use super::context::Context;
use super::ids::Ids;
use super::reply::Format;
use super::tools::{Choice, Tool, read_tools};

/// A parsed request, with the fields that its response repeats.
#[derive(Debug)]
pub(super) struct Request<'a> {
    fields: Fields<'a>,
    pub(super) ids: Ids,
    pub(super) context: Context,
    pub(super) tools: Vec<Tool>,
    pub(super) choice: Choice,
    pub(super) parallel_tool_calls: bool,
    pub(super) format: Format,
    pub(super) max_output_tokens: Option<usize>,
    pub(super) encrypted_reasoning: bool,
    /// Whether the assistant messages of the input have phases.
    knows_phases: bool,
}

impl<'a> Request<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, SimError> {
        let fields = Fields::read(body)?;
        let _: String = fields.required("model", "a string")?;
        fields.refuse_held_state()?;
        let input = fields.raw("input").ok_or(SimError::MissingParameter("input"))?;
        let include: Vec<String> =
            fields.optional("include", "an array of strings")?.unwrap_or_default();
        let tools: Vec<Value> = fields.optional("tools", "an array of tools")?.unwrap_or_default();
        let parallel = fields.optional("parallel_tool_calls", "a boolean")?;
        let text_of = |name| fields.raw(name).map_or("", RawValue::get);
        let items: Value = fields.required("input", "a string or an array of items")?;
        Ok(Self {
            ids: Ids::from_parts([input.get(), text_of("instructions"), text_of("tools")]),
            context: Context::read(fields.optional("instructions", "a string")?, &items)?,
            knows_phases: has_phases(&items),
            tools: read_tools(&tools)?,
            choice: Choice::read(fields.optional("tool_choice", "a tool choice")?.as_ref())?,
            parallel_tool_calls: parallel.unwrap_or(true),
            format: Format::read(&fields.optional("text", "an object")?.unwrap_or_default())?,
            max_output_tokens: fields.optional("max_output_tokens", "a positive integer")?,
            encrypted_reasoning: include.iter().any(|path| path == "reasoning.encrypted_content"),
            fields,
        })
    }

    /// The phase of an answering message, if the client knows phases.
    pub(super) fn phase(&self) -> Option<&'static str> {
        self.knows_phases.then_some("final_answer")
    }

    /// The unchanged value of a field, for the response; `None` if it is absent or null.
    pub(super) fn echo(&self, field: &str) -> Option<Value> {
        let raw = self.fields.raw(field)?;
        serde_json::from_str(raw.get()).ok()
    }
}

fn has_phases(input: &Value) -> bool {
    let items = input.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().any(|item| item["phase"].is_string())
}

/// The top-level fields of a request, with unparsed values.
#[derive(Debug)]
struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    fn read(body: &'a [u8]) -> Result<Self, SimError> {
        serde_json::from_slice(body).map(Self).map_err(|_| SimError::UnreadableBody)
    }

    fn raw(&self, field: &str) -> Option<&'a RawValue> {
        self.0.get(field).copied().filter(|value| value.get() != "null")
    }

    fn optional<T: DeserializeOwned>(
        &self,
        field: &str,
        expected: &'static str,
    ) -> Result<Option<T>, SimError> {
        let read = |raw: &RawValue| serde_json::from_str(raw.get());
        let invalid = |_| SimError::InvalidParameter { param: field.to_owned(), expected };
        self.raw(field).map(read).transpose().map_err(invalid)
    }

    fn required<T: DeserializeOwned>(
        &self,
        field: &'static str,
        expected: &'static str,
    ) -> Result<T, SimError> {
        self.optional(field, expected)?.ok_or(SimError::MissingParameter(field))
    }

    /// Rejects references to stored state: the model stores nothing.
    fn refuse_held_state(&self) -> Result<(), SimError> {
        for (field, kind) in
            [("previous_response_id", "Previous response"), ("conversation", "Conversation")]
        {
            if let Some(reference) = self.optional::<Value>(field, "an id")? {
                let id = reference.as_str().or(reference["id"].as_str()).unwrap_or_default();
                return Err(SimError::NotHeld { kind, id: id.to_owned() });
            }
        }
        Ok(())
    }
}
