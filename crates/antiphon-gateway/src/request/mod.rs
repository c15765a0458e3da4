//! The body of `POST /v1/responses`.

mod bounds;
mod compaction_trigger;
mod content;
mod depth;
mod identity;
mod include;
mod input;
mod metadata;
mod numbers;
mod prompt;
mod stream_options;
mod strict_schema;
mod text;
mod text_format;
mod tool_choice;
mod tools;

use antiphon::Item;
use antiphon::json::{self, Object};
use antiphon::stream::Obfuscation;
use bytes::Bytes;
use serde_json::value::RawValue;

use self::bounds::check_bounds;
pub(crate) use self::compaction_trigger::CompactionTrigger;
pub(crate) use self::depth::check_depth;
pub(crate) use self::identity::{Again, DigestKey, Identity};
pub(crate) use self::include::{ENCRYPTED, check_include, includes};
use self::input::input;
pub(crate) use self::input::{is_bare_reasoning, items};
pub(crate) use self::metadata::metadata;
use self::stream_options::obfuscation;
use self::text::within;
pub(crate) use self::tool_choice::check_choice_is_there;
use crate::error::ApiError;
use crate::lane::Lane;
use crate::settings::Limits;
use crate::sim::SIM;

/// What a model's input is made of. Source: the parameters of `POST /v1/responses/input_tokens`.
const COUNTED: [&str; 12] = [
    "model",
    "input",
    "conversation",
    "previous_response_id",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "truncation",
    "personality",
];

/// A request for a response, checked in the provider's order.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the request")]
pub(crate) struct CreateRequest {
    /// Every field but `input`, as it came.
    pub(crate) fields: String,
    /// The input's items; a string is a user's message.
    pub(crate) input: Vec<Item>,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) store: bool,
    /// Whether nobody waits for its end.
    pub(crate) background: bool,
    pub(crate) continues: Continues,
    /// Whether the caller asked for encrypted reasoning.
    pub(crate) encrypted: bool,
    /// Whether its history is to be compacted.
    pub(crate) compaction: CompactionTrigger,
    /// What it is known by should it be made again.
    pub(crate) identity: Identity,
    pub(crate) wants: Wants,
    /// The lane of a WebSocket that it came by.
    pub(crate) lane: Option<Lane>,
}

/// What a request is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// An answer of the model.
    Answer,
    /// That the next turn be prepared: no model is asked, and what comes is empty.
    Preparation,
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
    pub(crate) fn parse(
        body: &Bytes,
        identity: Identity,
        limits: &Limits,
    ) -> Result<Self, ApiError> {
        let fields = object_of(body)?;
        Self::of(body, fields, identity, limits)
    }

    /// Whether its caller waits for nothing but to be told that it is queued.
    pub(crate) fn is_queued(&self) -> bool {
        self.background && !self.stream
    }

    /// Reads a request whose tokens are to be counted. No field of it is required: without a model it
    /// is the built-in one's. What bears on the answer alone is passed over.
    pub(crate) fn parse_counted(
        body: &Bytes,
        identity: Identity,
        limits: &Limits,
    ) -> Result<Self, ApiError> {
        let given = object_of(body)?;
        let counted = COUNTED.iter().filter_map(|key| Some((*key, given.get(key)?)));
        let mut fields: Object<'_> = counted.collect();
        if fields.present("model").is_none() {
            fields.set("model", json::quote(SIM));
        }
        Self::of(body, fields, identity, limits)
    }

    fn of(
        body: &Bytes,
        mut fields: Object<'_>,
        identity: Identity,
        limits: &Limits,
    ) -> Result<Self, ApiError> {
        let model = required_model(&fields)?;
        has_something_to_say(&fields)?;
        let is_prompted = fields.present("prompt").is_some();
        let continues = continues(&fields)?;
        let input = input(body, &fields, limits)?;
        let request = Self {
            compaction: CompactionTrigger::parse(&fields, &input)?,
            input,
            model,
            stream: boolean(&fields, "stream")?.unwrap_or(false),
            store: boolean(&fields, "store")?.unwrap_or(true),
            background: boolean(&fields, "background")?.unwrap_or(false),
            encrypted: includes(&fields)?.iter().any(|include| include == ENCRYPTED),
            continues,
            identity,
            wants: Wants::Answer,
            lane: None,
            fields: String::new(),
        };
        check_bounds(&fields)?;
        request.has_input(is_prompted)?;
        fields.remove("input");
        Ok(Self { fields: fields.to_text(), ..request })
    }

    /// The same request, as it came by a lane: answered with events, and without these fields.
    pub(crate) fn by_lane(self, lane: Lane, wants: Wants, without: &[&str]) -> Self {
        let mut fields = self.object();
        for key in without {
            fields.remove(key);
        }
        let fields = fields.to_text();
        Self { fields, stream: true, wants, lane: Some(lane), ..self }
    }

    /// An empty input says nothing unless there is something to go on from.
    fn has_input(&self, is_prompted: bool) -> Result<(), ApiError> {
        let has_more = self.continues != Continues::Nothing || is_prompted;
        if self.input.is_empty() && !has_more { Err(nothing_to_say()) } else { Ok(()) }
    }

    /// Every field but `input`.
    pub(crate) fn object(&self) -> Object<'_> {
        Object::parse(self.fields.as_bytes()).expect("the fields were parsed")
    }

    /// What is to be done to the lengths of its deltas.
    pub(crate) fn obfuscation(&self) -> Obfuscation {
        obfuscation(&self.object())
    }

    /// Whether a prompt that the provider keeps says what the input does not.
    pub(crate) fn is_prompted(&self) -> bool {
        self.object().present("prompt").is_some()
    }
}

/// The object that a body is.
pub(crate) fn object_of(body: &[u8]) -> Result<Object<'_>, ApiError> {
    Object::parse(body).map_err(|_| match serde_json::from_slice::<&RawValue>(body) {
        Ok(raw) if !raw.get().starts_with('{') => ApiError::no_object(json::type_name(raw.get())),
        _ => ApiError::not_json(),
    })
}

fn required_model(fields: &Object<'_>) -> Result<String, ApiError> {
    let model = string(fields, "model")?.ok_or_else(|| ApiError::missing_parameter("model"))?;
    if model.is_empty() {
        return Err(ApiError::missing_parameter("model"));
    }
    check_model(&model)?;
    Ok(model)
}

/// The longest name of a model, in characters.
const MAX_MODEL: usize = 256;

/// Refuses a name that is too long to be a model's: it would stand in errors and in every line of the
/// log.
pub(crate) fn check_model(model: &str) -> Result<(), ApiError> {
    within("model", model, MAX_MODEL)
}

/// Refuses fields that nobody knows, in the provider's words.
pub(crate) fn check_known(fields: &Object<'_>, known: &[&str]) -> Result<(), ApiError> {
    match fields.iter().find(|(key, _)| !known.contains(key)) {
        None => Ok(()),
        Some((key, _)) => Err(ApiError::unknown_parameter(key)),
    }
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

/// What a request with these fields goes on from.
pub(crate) fn continues(fields: &Object<'_>) -> Result<Continues, ApiError> {
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

fn string(fields: &Object<'_>, key: &str) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present(key) else {
        return Ok(None);
    };
    let text = json::unquote(raw).ok_or_else(|| wrong(key, "a string", raw))?;
    Ok(Some(text.into_owned()))
}

pub(crate) fn boolean(fields: &Object<'_>, key: &str) -> Result<Option<bool>, ApiError> {
    match fields.present(key) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(raw) => Err(wrong(key, "a boolean", raw)),
    }
}

/// A value of another type than the one that belongs at `path`.
pub(crate) fn wrong(path: &str, expected: &str, raw: &str) -> ApiError {
    ApiError::wrong_type(path, expected, json::type_name(raw))
}
