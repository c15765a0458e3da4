//! The response object around the output items.
//!
//! Source: the Open Responses specification, `ResponseResource`: all of its 31 keys are present,
//! null where there is nothing to say.

use std::borrow::Cow;

use crate::json::{Object, quote};

/// The response object, without its output. Fields that the upstream reports win over the request's
/// echo; identity and state are ours.
#[derive(Clone, Debug)]
pub struct Envelope {
    fields: Object<'static>,
}

/// Keys that echo the request, with what stands there when neither request nor upstream says
/// anything, or null where that is not allowed.
const ECHOED: [(&str, &str); 17] = [
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
];

/// Keys that are ours whatever an upstream says.
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

impl Envelope {
    /// The envelope of a response that begins: `id`, made at `created_at` (Unix seconds) for
    /// `request`, in the conversation of that id if any.
    pub fn new(
        id: &str,
        created_at: i64,
        request: &Object<'_>,
        conversation: Option<&str>,
    ) -> Self {
        let mut envelope = Self {
            fields: Object::default(),
        };
        let fields = &mut envelope.fields;
        fields.set_string("id", id);
        fields.set("object", r#""response""#);
        fields.set("created_at", created_at.to_string());
        fields.set("status", r#""in_progress""#);
        fields.set("background", "false");
        for key in ["completed_at", "error", "incomplete_details"] {
            fields.set(key, "null");
        }
        echo(fields, request, "instructions", "null");
        for (key, default) in ECHOED {
            echo(fields, request, key, default);
        }
        fields.set("output", "[]");
        echo(fields, request, "previous_response_id", "null");
        let conversation = conversation.map(|id| format!(r#"{{"id":{}}}"#, quote(id)));
        fields.set(
            "conversation",
            conversation.unwrap_or_else(|| "null".into()),
        );
        echo(fields, request, "store", "true");
        fields.set("usage", "null");
        echo(fields, request, "metadata", "{}");
        if let Some(user) = request.present("user") {
            fields.set("user", user.to_owned());
        }
        envelope.complete_fields();
        envelope
    }

    /// Takes over what an upstream's response object reports.
    pub fn adopt(&mut self, reported: &Object<'_>) {
        for (key, raw) in reported.iter() {
            let null_for_a_value = raw == "null"
                && ECHOED
                    .iter()
                    .any(|(echoed, default)| *echoed == key && *default != "null");
            if !OWN.contains(&key) && !null_for_a_value {
                self.set(key, raw.to_owned());
            }
        }
        self.complete_fields();
    }

    /// Sets one field to a raw value.
    pub fn set(&mut self, key: &str, raw: impl Into<Cow<'static, str>>) {
        self.fields.set(key.to_owned(), raw);
    }

    /// The response object with these output items (raw) in it.
    pub fn render<'a>(&self, output: impl Iterator<Item = &'a str>) -> String {
        let mut object = self.fields.clone();
        let mut array = String::from("[");
        for (position, item) in output.enumerate() {
            array.push_str(if position > 0 { "," } else { "" });
            array.push_str(item);
        }
        array.push(']');
        object.set("output", array);
        object.to_text()
    }

    /// Function tools are echoed with all their keys, and texts with a format.
    fn complete_fields(&mut self) {
        if let Some(tools) = self.fields.get("tools").and_then(complete_tools) {
            self.fields.set("tools", tools);
        }
        let text = self
            .fields
            .get("text")
            .and_then(|raw| Object::parse(raw.as_bytes()).ok());
        if let Some(mut text) = text.filter(|text| text.present("format").is_none()) {
            text.set("format", r#"{"type":"text"}"#);
            let text = text.to_text();
            self.fields.set("text", text);
        }
    }
}

fn echo(fields: &mut Object<'static>, request: &Object<'_>, key: &'static str, default: &str) {
    fields.set(key, request.present(key).unwrap_or(default).to_owned());
}

/// The tools with `description`, `parameters` and `strict` on each function; `None` where nothing
/// is missing.
fn complete_tools(tools: &str) -> Option<String> {
    let mut tools: Vec<Object<'_>> = serde_json::from_str(tools).ok()?;
    let is_function = |tool: &Object<'_>| tool.string("type").as_deref() == Some("function");
    let mut changed = false;
    for tool in tools.iter_mut().filter(|tool| is_function(tool)) {
        for key in ["description", "parameters", "strict"] {
            if tool.get(key).is_none() {
                tool.set(key, "null");
                changed = true;
            }
        }
    }
    let texts: Vec<String> = tools.iter().map(Object::to_text).collect();
    changed.then(|| format!("[{}]", texts.join(",")))
}
