//! The body of `POST /v1/responses`.

use antiphon::item::{HeadError, Item, Kind, ListError, Role, items_of};
use antiphon::json::{self, Object};
use bytes::Bytes;

use crate::error::ApiError;

/// How many tools a request may name.
const MAX_TOOLS: usize = 128;
/// How a caller asks for encrypted reasoning.
pub(crate) const ENCRYPTED: &str = "reasoning.encrypted_content";

/// A request for a response, checked in the provider's order.
#[derive(Clone, Debug)]
pub(crate) struct CreateRequest {
    /// Every field but `input`, as it came.
    pub(crate) fields: String,
    /// The input's items; a string is a user's message.
    pub(crate) input: Vec<Item>,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) store: bool,
    pub(crate) continues: Continues,
    /// Whether the caller asked for encrypted reasoning.
    pub(crate) encrypted: bool,
}

/// What a request goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Continues {
    /// Nothing: its input is all there is.
    Nothing,
    /// The conversation of this id.
    Conversation(String),
    /// The response of this id.
    Response(String),
}

impl CreateRequest {
    /// Reads a request. Bytes that are no JSON object, fields of wrong types and parameters that
    /// exclude one another are refused in the provider's words.
    pub(crate) fn parse(body: &Bytes) -> Result<Self, ApiError> {
        let mut fields = Object::parse(body).map_err(|_| ApiError::not_json())?;
        let model = required_model(&fields)?;
        has_something_to_say(&fields)?;
        let is_prompted = fields.present("prompt").is_some();
        let continues = continues(&fields)?;
        let request = Self {
            input: input(body, &fields)?,
            model,
            stream: boolean(&fields, "stream")?.unwrap_or(false),
            store: boolean(&fields, "store")?.unwrap_or(true),
            encrypted: includes(&fields)?.iter().any(|include| include == ENCRYPTED),
            continues,
            fields: String::new(),
        };
        check_bounds(&fields)?;
        request.has_input(is_prompted)?;
        fields.remove("input");
        Ok(Self { fields: fields.to_text(), ..request })
    }

    /// An empty input says nothing unless there is something to go on from.
    fn has_input(&self, is_prompted: bool) -> Result<(), ApiError> {
        let has_more = self.continues != Continues::Nothing || is_prompted;
        if self.input.is_empty() && !has_more { Err(nothing_to_say()) } else { Ok(()) }
    }

    /// Whether a prompt that the provider keeps says what the input does not.
    pub(crate) fn is_prompted(&self) -> bool {
        let fields = Object::parse(self.fields.as_bytes()).expect("the fields were parsed");
        fields.present("prompt").is_some()
    }
}

fn required_model(fields: &Object<'_>) -> Result<String, ApiError> {
    let model = string(fields, "model")?.ok_or_else(|| ApiError::missing_parameter("model"))?;
    if model.is_empty() {
        return Err(ApiError::missing_parameter("model"));
    }
    Ok(model)
}

fn has_something_to_say(fields: &Object<'_>) -> Result<(), ApiError> {
    let sources = ["input", "previous_response_id", "prompt", "conversation"];
    match sources.iter().any(|key| fields.present(key).is_some()) {
        true => Ok(()),
        false => Err(nothing_to_say()),
    }
}

pub(crate) fn nothing_to_say() -> ApiError {
    ApiError::invalid(
        "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be \
         provided.",
    )
    .code("missing_required_parameter")
}

fn continues(fields: &Object<'_>) -> Result<Continues, ApiError> {
    let previous = string(fields, "previous_response_id")?;
    match (conversation(fields)?, previous) {
        (Some(_), Some(_)) => Err(ApiError::invalid(
            "Mutually exclusive parameters: ''. Ensure you are only providing one of: \
             'previous_response_id' or 'conversation'.",
        )
        .code("mutually_exclusive_parameters")),
        (Some(id), None) => Ok(Continues::Conversation(id)),
        (None, Some(id)) => Ok(Continues::Response(id)),
        (None, None) => Ok(Continues::Nothing),
    }
}

/// `conversation`, an id or an object with one.
fn conversation(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("conversation") else {
        return Ok(None);
    };
    if let Some(id) = json::unquote(raw) {
        return Ok(Some(id.into_owned()));
    }
    let Ok(object) = Object::parse(raw.as_bytes()) else {
        let got = json::type_name(raw);
        return Err(ApiError::wrong_type("conversation", "a string or an object", got));
    };
    match object.present("id") {
        None => Err(ApiError::missing_parameter("conversation.id")),
        Some(id) => json::unquote(id)
            .map(|id| Some(id.into_owned()))
            .ok_or_else(|| wrong("conversation.id", "a string", id)),
    }
}

fn input(body: &Bytes, fields: &Object<'_>) -> Result<Vec<Item>, ApiError> {
    let Some(raw) = fields.present("input") else {
        return Ok(Vec::new());
    };
    match raw.as_bytes()[0] {
        b'"' => Ok(vec![user_message(raw)]),
        b'[' => items(&body.slice_ref(raw.as_bytes()), "input"),
        _ => Err(wrong("input", "a string or an array", raw)),
    }
}

/// A string as input is a user's message.
fn user_message(raw: &str) -> Item {
    let message = format!(r#"{{"type":"message","role":"user","content":{raw}}}"#);
    Item::parse(message.into()).expect("the text above is an item")
}

/// The items of a raw array that stands at `path`.
pub(crate) fn items(array: &Bytes, path: &str) -> Result<Vec<Item>, ApiError> {
    let items = items_of(array).map_err(|error| no_items(path, error))?;
    for (position, item) in items.iter().enumerate() {
        check_role(item, &format!("{path}[{position}].role"))?;
    }
    Ok(items)
}

fn check_role(item: &Item, path: &str) -> Result<(), ApiError> {
    if item.head().kind != Kind::Message {
        return Ok(());
    }
    match item.head().role {
        None => Err(ApiError::missing_parameter(path)),
        Some(Role::Other) => {
            let role = item.object().string("role").map(std::borrow::Cow::into_owned);
            Err(ApiError::invalid(format!(
                "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', \
                 and 'user'.",
                role.unwrap_or_default()
            ))
            .code("invalid_value")
            .param(path))
        }
        Some(_) => Ok(()),
    }
}

fn no_items(path: &str, error: ListError) -> ApiError {
    let (position, error) = match error {
        ListError::Item { position, error } => (position, error),
        ListError::NotAnArray(_) => return ApiError::not_json(),
    };
    let path = format!("{path}[{position}]");
    match error {
        HeadError::NotAnObject { got } => ApiError::wrong_type(&path, "an object", got),
        HeadError::WrongType { field, got } => {
            ApiError::wrong_type(&format!("{path}.{field}"), "a string", got)
        }
        HeadError::NoType => ApiError::missing_parameter(&format!("{path}.type")),
        HeadError::Syntax(_) => ApiError::not_json(),
    }
}

fn check_bounds(fields: &Object<'_>) -> Result<(), ApiError> {
    if let Some(raw) = fields.present("tools") {
        let tools: Vec<&serde_json::value::RawValue> =
            serde_json::from_str(raw).map_err(|_| wrong("tools", "an array", raw))?;
        if tools.len() > MAX_TOOLS {
            return Err(ApiError::array_too_long("tools", MAX_TOOLS, tools.len()));
        }
    }
    check_types(fields)?;
    metadata(fields)?;
    if boolean(fields, "background")? == Some(true) {
        return Err(ApiError::invalid("Background responses are not supported yet.")
            .code("unsupported_parameter")
            .param("background"));
    }
    Ok(())
}

/// Fields that are not looked into are still of one type each.
const TYPES: [(&str, &str, &[&str]); 15] = [
    ("instructions", "a string", &["a string"]),
    ("temperature", "a number", &["a decimal", "an integer"]),
    ("top_p", "a number", &["a decimal", "an integer"]),
    ("top_logprobs", "an integer", &["an integer"]),
    ("max_output_tokens", "an integer", &["an integer"]),
    ("max_tool_calls", "an integer", &["an integer"]),
    ("parallel_tool_calls", "a boolean", &["a boolean"]),
    ("truncation", "a string", &["a string"]),
    ("service_tier", "a string", &["a string"]),
    ("user", "a string", &["a string"]),
    ("reasoning", "an object", &["an object"]),
    ("text", "an object", &["an object"]),
    ("stream_options", "an object", &["an object"]),
    ("prompt", "an object", &["an object"]),
    ("tool_choice", "a string or an object", &["a string", "an object"]),
];

fn check_types(fields: &Object<'_>) -> Result<(), ApiError> {
    for (key, expected, types) in TYPES {
        if let Some(raw) = fields.present(key).filter(|raw| !types.contains(&json::type_name(raw)))
        {
            return Err(wrong(key, expected, raw));
        }
    }
    Ok(())
}

/// `metadata`: at most 16 pairs of strings, keys up to 64 and values up to 512 characters.
pub(crate) fn metadata(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("metadata") else {
        return Ok(None);
    };
    let object = Object::parse(raw.as_bytes()).map_err(|_| wrong("metadata", "an object", raw))?;
    let pairs = object.iter().count();
    if pairs > 16 {
        return Err(ApiError::invalid(format!(
            "Invalid 'metadata': too many properties. Expected an object with at most 16 \
             properties, but got an object with {pairs} properties instead."
        ))
        .code("object_above_max_properties")
        .param("metadata"));
    }
    for (key, raw) in object.iter() {
        let path = format!("metadata.{key}");
        let value = json::unquote(raw).ok_or_else(|| wrong(&path, "a string", raw))?;
        within(&path, key, 64)?;
        within(&path, &value, 512)?;
    }
    Ok(Some(raw.to_owned()))
}

fn within(path: &str, text: &str, maximum: usize) -> Result<(), ApiError> {
    let length = text.chars().count();
    if length <= maximum {
        return Ok(());
    }
    Err(ApiError::invalid(format!(
        "Invalid '{path}': string too long. Expected a string with maximum length {maximum}, but \
         got a string with length {length} instead."
    ))
    .code("string_above_max_length")
    .param(path))
}

pub(crate) fn includes(fields: &Object<'_>) -> Result<Vec<String>, ApiError> {
    let Some(raw) = fields.present("include") else {
        return Ok(Vec::new());
    };
    serde_json::from_str(raw).map_err(|_| wrong("include", "an array of strings", raw))
}

fn string(fields: &Object<'_>, key: &str) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present(key) else {
        return Ok(None);
    };
    let text = json::unquote(raw).ok_or_else(|| wrong(key, "a string", raw))?;
    Ok(Some(text.into_owned()))
}

fn boolean(fields: &Object<'_>, key: &str) -> Result<Option<bool>, ApiError> {
    match fields.present(key) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(raw) => Err(wrong(key, "a boolean", raw)),
    }
}

pub(crate) fn wrong(path: &str, expected: &str, raw: &str) -> ApiError {
    ApiError::wrong_type(path, expected, json::type_name(raw))
}
