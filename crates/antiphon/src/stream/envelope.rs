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
    fields: Object<'static>,
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

/// Keys that echo the request, and their defaults. If the default is not null, a null from the
/// upstream is ignored.
const ECHOED: [(&str, &str); 17] = [
    ("model", r#""""#),
    ("tools", "[]"),
    ("tool_choice", r#""auto""#),
    ("truncation", r#""disabled""#),
    ("parallel_tool_calls", "true"),
    ("text", DEFAULT_TEXT),
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
];

/// The text format of a request without one, with all keys.
const DEFAULT_TEXT: &str = r#"{"format":{"type":"text"}}"#;

/// Room for the fields of a new envelope, and for a few more of the upstream.
const USUAL_FIELDS: usize = 40;

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

/// Keys in which a null from the upstream is ignored, if it stores the response.
const NEVER_NULL: [&str; 5] = ["id", "created_at", "store", "background", "metadata"];

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
            fields: Object::with_capacity(USUAL_FIELDS),
            owner: StateOwner::Gateway,
            renames_conversation: false,
            completed_at: None,
        };
        let fields = &mut envelope.fields;
        fields.add("id", quote(id));
        fields.add("object", r#""response""#);
        fields.add("created_at", created_at.to_string());
        fields.add("status", r#""in_progress""#);
        echo(fields, request, "background", "false");
        for key in ["completed_at", "error", "incomplete_details"] {
            fields.add(key, "null");
        }
        echo(fields, request, "instructions", "null");
        for (key, default) in ECHOED {
            echo(fields, request, key, default);
        }
        fields.add("output", "[]");
        echo(fields, request, "previous_response_id", "null");
        let conversation = conversation.map(|id| format!(r#"{{"id":{}}}"#, quote(id)));
        fields.add("conversation", conversation.unwrap_or_else(|| "null".into()));
        echo(fields, request, "store", "true");
        fields.add("usage", "null");
        echo(fields, request, "metadata", "{}");
        for key in ["user", "prompt_cache_retention", "prompt"] {
            if let Some(raw) = request.present(key) {
                fields.add(key, raw.to_owned());
            }
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
            if !self.is_fixed(key) && !Self::is_missing_value(key, raw) {
                self.set(key, raw.to_owned());
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

    /// Whether a value is missing: null or an empty id in a field that needs one.
    fn is_missing_value(key: &str, raw: &str) -> bool {
        let is_echoed =
            || ECHOED.iter().any(|(echoed, default)| *echoed == key && *default != "null");
        let is_null = raw == "null" && (NEVER_NULL.contains(&key) || is_echoed());
        is_null || key == "id" && unquote(raw).is_none_or(|id| id.is_empty())
    }

    /// The raw value of a field.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key)
    }

    /// Sets one field to a raw value.
    pub fn set(&mut self, key: &str, raw: impl Into<Cow<'static, str>>) {
        self.fields.set(key.to_owned(), raw);
    }

    /// Renders the response object with these raw output items.
    pub fn render<'a>(&self, output: impl Iterator<Item = &'a str>) -> String {
        let output = array_of(output);
        let rest: usize = self.fields.iter().map(|(key, raw)| key.len() + raw.len() + 4).sum();
        let mut text = String::with_capacity(output.len() + rest);
        text.push('{');
        for (key, raw) in self.fields.iter() {
            push_key(&mut text, key);
            text.push_str(if key == "output" { &output } else { raw });
        }
        text.push('}');
        text
    }

    /// Adds the keys that the response's types require to the echoed objects.
    fn complete_fields(&mut self) {
        if let Some(tools) = self.fields.get("tools").and_then(complete_tools) {
            self.fields.set("tools", tools);
        }
        for (key, complete) in [
            ("text", complete_text as fn(&mut Object<'_>)),
            ("reasoning", |reasoning| or_null(reasoning, &["effort", "summary"])),
        ] {
            let present = self.fields.get(key).filter(|raw| *raw != DEFAULT_TEXT);
            if let Some(completed) = present.and_then(|raw| change(raw, complete)) {
                self.fields.set(key, completed);
            }
        }
    }
}

/// Adds a field of the request, or its default.
fn echo(
    fields: &mut Object<'static>,
    request: &Object<'_>,
    key: &'static str,
    default: &'static str,
) {
    match request.present(key) {
        Some(raw) => fields.add(key, raw.to_owned()),
        None => fields.add(key, default),
    }
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
