//! The response object around the output items.
//!
//! Source: the Open Responses specification, `ResponseResource`: all of its 31 keys are present,
//! and a key without a value is null.

use std::borrow::Cow;

use super::fields::push_key;
use crate::json::{Object, elements, quote, unquote};

/// The response object without its output. The upstream's fields take precedence over the
/// request's; identity and state are ours.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The fields that were set. One of [`FIELDS`] that is absent has its default.
    changed: Object<'static>,
    owner: StateOwner,
    /// Whether the upstream's conversation id differs from the one that clients use.
    renames_conversation: bool,
    /// Completion time in Unix seconds, from the upstream that stores the response.
    completed_at: Option<i64>,
}

/// The store of the response, which decides its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateOwner {
    /// The gateway stores it; its identity is ours.
    Gateway,
    /// The upstream stores it; its identity is the upstream's.
    Upstream,
    /// The upstream stores it, and the client already has its id: the id must not change any more.
    UpstreamIdFixed,
}

/// The fields of every response in order, with their defaults. If the default is not null, a null
/// from the upstream is ignored.
const FIELDS: [(&str, &str); 32] = [
    ("id", r#""""#),
    ("object", r#""response""#),
    ("created_at", "0"),
    ("status", r#""in_progress""#),
    ("background", "false"),
    ("completed_at", "null"),
    ("error", "null"),
    ("incomplete_details", "null"),
    ("instructions", "null"),
    ("model", r#""""#),
    ("tools", "[]"),
    ("tool_choice", r#""auto""#),
    ("truncation", r#""disabled""#),
    ("parallel_tool_calls", "true"),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("top_p", "1.0"),
    ("presence_penalty", "0.0"),
    ("frequency_penalty", "0.0"),
    ("top_logprobs", "0"),
    ("temperature", "1.0"),
    ("reasoning", "null"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("service_tier", r#""default""#),
    ("safety_identifier", "null"),
    ("prompt_cache_key", "null"),
    ("output", "[]"),
    ("previous_response_id", "null"),
    ("conversation", "null"),
    ("store", "true"),
    ("usage", "null"),
    ("metadata", "{}"),
];

/// The keys that echo the request.
const ECHOED: [&str; 25] = [
    "background",
    "instructions",
    "model",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "max_output_tokens",
    "max_tool_calls",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "previous_response_id",
    "store",
    "metadata",
    "user",
    "prompt_cache_retention",
    "prompt",
];

/// Room for the fields that usually differ from the defaults.
const USUAL_CHANGES: usize = 10;

/// Keys that are ours, if the upstream does not store the response.
const OWN: [&str; 15] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "previous_response_id",
    "conversation",
    "instructions",
    "output",
    "error",
    "store",
    "background",
    "metadata",
    "user",
];

/// Keys with the response's state in this gateway, which are always ours.
const STATE: [&str; 6] =
    ["object", "completed_at", "status", "incomplete_details", "output", "error"];

impl Envelope {
    /// Creates the envelope of a new response with the id `id`, created at `created_at` (Unix
    /// seconds) for `request`, in the conversation with that id if any.
    pub fn new(
        id: &str,
        created_at: i64,
        request: &Object<'_>,
        conversation: Option<&str>,
    ) -> Self {
        let mut envelope = Self {
            changed: Object::with_capacity(USUAL_CHANGES),
            owner: StateOwner::Gateway,
            renames_conversation: false,
            completed_at: None,
        };
        envelope.set("id", quote(id));
        envelope.set("created_at", created_at.to_string());
        for key in ECHOED {
            if let Some(raw) = request.present(key) {
                envelope.update(key, raw);
            }
        }
        if let Some(id) = conversation {
            envelope.set("conversation", format!(r#"{{"id":{}}}"#, quote(id)));
        }
        envelope.complete_fields();
        envelope
    }

    /// The envelope of a response that the upstream stores, with the upstream's identity. Its id is
    /// the first one that the upstream reports, or the one from `new` if that is emitted before.
    #[must_use]
    pub fn owned_by_upstream(self) -> Self {
        Self { owner: StateOwner::Upstream, ..self }
    }

    /// The envelope of a response whose conversation keeps our id, although the upstream reports
    /// another one.
    #[must_use]
    pub fn renaming_conversation(self) -> Self {
        Self { renames_conversation: true, ..self }
    }

    /// Copies the fields of the upstream's response object.
    pub fn copy_upstream_fields(&mut self, reported: &Object<'_>) {
        if self.owner != StateOwner::Gateway {
            let completed_at = reported.present("completed_at").and_then(|raw| raw.parse().ok());
            self.completed_at = completed_at.or(self.completed_at);
        }
        for (key, raw) in reported.iter() {
            if !self.is_fixed(key) && !is_missing_value(key, raw) {
                self.update(key, raw);
            }
        }
        self.complete_fields();
    }

    /// Completion time in Unix seconds, from the upstream that stores the response; `None` if it
    /// reported none or does not store it.
    pub(super) fn completed_at(&self) -> Option<i64> {
        self.completed_at
    }

    /// Fixes the current id, because the client gets it now.
    pub(super) fn fix_id(&mut self) {
        if self.owner == StateOwner::Upstream {
            self.owner = StateOwner::UpstreamIdFixed;
        }
    }

    /// Whether the upstream's value of this field is ignored.
    fn is_fixed(&self, key: &str) -> bool {
        if key == "conversation" && self.renames_conversation {
            return true;
        }
        match self.owner {
            StateOwner::Gateway => OWN.contains(&key),
            StateOwner::Upstream => STATE.contains(&key),
            StateOwner::UpstreamIdFixed => key == "id" || STATE.contains(&key),
        }
    }

    /// The raw value of a field.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.changed.get(key).or_else(|| known_field(key).map(|(_, default)| default))
    }

    /// Sets one field to a raw value.
    pub fn set(&mut self, key: &str, raw: impl Into<Cow<'static, str>>) {
        match self.changed.get_mut(key) {
            Some(value) => *value = raw.into(),
            None => match known_field(key) {
                Some((key, _)) => self.changed.add(key, raw),
                None => self.changed.add(key.to_owned(), raw),
            },
        }
    }

    /// Sets one field to a copy of a raw value, if it differs.
    fn update(&mut self, key: &str, raw: &str) {
        if self.get(key) != Some(raw) {
            self.set(key, raw.to_owned());
        }
    }

    /// Renders the response object with these raw output items.
    pub fn render<'a>(&self, output: impl Iterator<Item = &'a str>) -> String {
        let output = array_of(output);
        let known = FIELDS.iter();
        let known = known.map(|(key, raw)| (*key, self.changed.get(key).unwrap_or(raw)));
        let others = self.changed.iter().filter(|(key, _)| known_field(key).is_none());
        let length = |(key, raw): (&str, &str)| key.len() + raw.len() + r#""":,"#.len();
        let rest: usize = FIELDS.iter().copied().chain(self.changed.iter()).map(length).sum();
        let mut text = String::with_capacity(output.len() + rest);
        text.push('{');
        for (key, raw) in known.chain(others) {
            push_key(&mut text, key);
            text.push_str(if key == "output" { &output } else { raw });
        }
        text.push('}');
        text
    }

    /// Adds the keys that the response's types require to the echoed objects.
    fn complete_fields(&mut self) {
        if let Some(tools) = self.changed.get("tools").and_then(complete_tools) {
            self.set("tools", tools);
        }
        for (key, complete) in [
            ("text", complete_text as fn(&mut Object<'_>)),
            ("reasoning", |reasoning| or_null(reasoning, &["effort", "summary"])),
        ] {
            if let Some(completed) = self.changed.get(key).and_then(|raw| change(raw, complete)) {
                self.set(key, completed);
            }
        }
    }
}

/// The key and the default of a field that every response has.
fn known_field(key: &str) -> Option<(&'static str, &'static str)> {
    FIELDS.iter().find(|(known, _)| *known == key).copied()
}

/// Whether a value is missing: null or an empty id in a field that needs one.
fn is_missing_value(key: &str, raw: &str) -> bool {
    let is_needed = || known_field(key).is_some_and(|(_, default)| default != "null");
    raw == "null" && is_needed() || key == "id" && unquote(raw).is_none_or(|id| id.is_empty())
}

fn array_of<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut array = String::from("[");
    for (position, item) in items.enumerate() {
        array.push_str(if position > 0 { "," } else { "" });
        array.push_str(item);
    }
    array.push(']');
    array
}

/// The tools with `description`, `parameters` and `strict` on each function; `None` if nothing is
/// missing.
fn complete_tools(tools: &str) -> Option<String> {
    let tools = elements(tools)?;
    let completed: Vec<Option<String>> =
        tools.iter().map(|tool| change(tool, complete_tool)).collect();
    completed.iter().any(Option::is_some).then(|| {
        let tools = tools.iter().zip(&completed);
        array_of(tools.map(|(tool, completed)| completed.as_deref().unwrap_or(tool)))
    })
}

fn complete_tool(tool: &mut Object<'_>) {
    if tool.string("type").as_deref() == Some("function") {
        or_null(tool, &["description", "parameters", "strict"]);
    }
}

fn complete_text(text: &mut Object<'_>) {
    let format = text.present("format").unwrap_or(r#"{"type":"text"}"#);
    let completed = change(format, complete_format);
    let format = completed.unwrap_or_else(|| format.to_owned());
    if text.get("format") != Some(&format) {
        text.set("format", format);
    }
}

/// A schema's `strict` is not nullable.
fn complete_format(format: &mut Object<'_>) {
    if format.string("type").as_deref() == Some("json_schema") {
        or_null(format, &["description", "schema"]);
        if format.present("strict").is_none() {
            format.set("strict", "false");
        }
    }
}

fn or_null(object: &mut Object<'_>, keys: &[&'static str]) {
    for key in keys {
        if object.get(key).is_none() {
            object.set(*key, "null");
        }
    }
}

/// The object `raw` after a change; `None` if it is not an object or does not change.
fn change(raw: &str, change: impl FnOnce(&mut Object<'_>)) -> Option<String> {
    if !raw.starts_with('{') {
        return None;
    }
    let mut object = Object::parse_str(raw).ok()?;
    let before = object.clone();
    change(&mut object);
    (!before.iter().eq(object.iter())).then(|| object.to_text())
}
