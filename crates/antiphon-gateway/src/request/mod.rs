//! The body of `POST /v1/responses`.

mod bounds;
mod client_changes;
mod compaction_trigger;
mod content;
mod depth;
mod identity;
mod include;
mod input;
mod strict_schema;
mod text_format;
mod tool_choice;
mod tools;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use antiphon::Item;
use antiphon::json::{self, Object};
use antiphon::reconcile::ReplayStyle;
use antiphon::stream::Obfuscation;
use bytes::Bytes;
use http::{HeaderMap, header};
use serde_json::value::RawValue;

use self::bounds::{check_bounds, obfuscation};
pub(crate) use self::client_changes::ClientChanges;
pub(crate) use self::compaction_trigger::CompactionTrigger;
pub(crate) use self::depth::check_depth;
pub(crate) use self::identity::{DigestKey, Identity, RetryEvidence};
pub(crate) use self::include::{ENCRYPTED, check_include, includes};
use self::input::input;
pub(crate) use self::input::{check_stored_item, is_bare_reasoning, item, items};
pub(crate) use self::tool_choice::check_chosen_tool;
pub(crate) use self::values::metadata;
use self::values::within;
use crate::error::ApiError;
use crate::lane::Lane;
use crate::settings::Limits;

/// The fields that determine a model's input. Source: the parameters of
/// `POST /v1/responses/input_tokens`.
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

/// A request for a response. The checks run in the provider's order.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the request")]
pub(crate) struct CreateRequest {
    /// All fields except `input`, unchanged.
    pub(crate) fields: String,
    /// The items of the input. A string input is one message of the user.
    pub(crate) input: Vec<Item>,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) store: bool,
    /// Whether the response runs in the background.
    pub(crate) background: bool,
    pub(crate) continues: Continues,
    /// Whether the caller requested encrypted reasoning.
    pub(crate) encrypted: bool,
    /// The condition for compacting the history.
    pub(crate) compaction: CompactionTrigger,
    /// The identity that a retry of the request shares.
    pub(crate) identity: Identity,
    pub(crate) mode: RequestMode,
    /// The lane of the WebSocket that sent the request.
    pub(crate) lane: Option<Lane>,
    /// How the client resends its history.
    pub(crate) replay_style: ReplayStyle,
    /// The differences to the request of a client of another API.
    pub(crate) client_changes: ClientChanges,
    /// The call ids in the input that its client left out.
    pub(crate) derived_call_ids: Arc<BTreeSet<String>>,
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestMode {
    /// An answer of the model.
    Answer,
    /// Preparation of the next turn: no model is called, and the output is empty.
    Preparation,
}

/// The state that a request continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Continues {
    /// Nothing: the input is the whole context.
    Nothing,
    /// The conversation with this id.
    Conversation(String),
    /// The response with this id.
    Response(String),
}

impl CreateRequest {
    /// Parses a request. Invalid JSON, wrong types and mutually exclusive parameters are rejected
    /// with the provider's error texts.
    pub(crate) fn parse(
        body: &Bytes,
        identity: Identity,
        limits: &Limits,
    ) -> Result<Self, ApiError> {
        let fields = parse_object(body)?;
        Self::from_fields(body, fields, identity, limits)
    }

    /// Whether the caller only waits until the request is queued.
    pub(crate) fn is_queued(&self) -> bool {
        self.background && !self.stream
    }

    /// Parses a request for a token count. All fields are optional, except for the model if there
    /// is no default. Fields that only affect the output are ignored.
    pub(crate) fn parse_counted(
        body: &Bytes,
        identity: Identity,
        limits: &Limits,
        default_model: Option<&str>,
    ) -> Result<Self, ApiError> {
        let given = parse_object(body)?;
        let counted = COUNTED.iter().filter_map(|key| Some((*key, given.get(key)?)));
        let mut fields: Object<'_> = counted.collect();
        if let (None, Some(model)) = (fields.present("model"), default_model) {
            fields.set("model", json::quote(model));
        }
        Self::from_fields(body, fields, identity, limits)
    }

    fn from_fields(
        body: &Bytes,
        mut fields: Object<'_>,
        identity: Identity,
        limits: &Limits,
    ) -> Result<Self, ApiError> {
        let model = required_model(&fields)?;
        check_input_source(&fields)?;
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
            mode: RequestMode::Answer,
            lane: None,
            replay_style: ReplayStyle::Unknown,
            client_changes: ClientChanges::default(),
            derived_call_ids: Arc::default(),
            fields: String::new(),
        };
        check_bounds(&fields)?;
        request.has_input(is_prompted)?;
        fields.remove("input");
        Ok(Self { fields: fields.to_text(), ..request })
    }

    /// The request of the client that these headers name.
    pub(crate) fn sent_by(self, headers: &HeaderMap) -> Self {
        let name = headers.get(header::USER_AGENT).and_then(|name| name.to_str().ok());
        Self { replay_style: name.map(ReplayStyle::from_user_agent).unwrap_or_default(), ..self }
    }

    /// The request of a client of another API, with these changes to it.
    pub(crate) fn with_client_changes(self, client_changes: ClientChanges) -> Self {
        Self { client_changes, ..self }
    }

    /// The request of a client that left out these call ids.
    pub(crate) fn with_derived_call_ids(self, ids: BTreeSet<String>) -> Self {
        Self { derived_call_ids: Arc::new(ids), ..self }
    }

    /// Converts the request to one that a lane received: it streams events, and omits the fields
    /// named in `without`.
    pub(crate) fn for_lane(self, lane: Lane, mode: RequestMode, without: &[&str]) -> Self {
        let mut fields = self.object();
        for key in without {
            fields.remove(key);
        }
        let fields = fields.to_text();
        Self { fields, stream: true, mode, lane: Some(lane), ..self }
    }

    /// Rejects an empty input, unless the request continues stored state or has a prompt.
    fn has_input(&self, is_prompted: bool) -> Result<(), ApiError> {
        let has_more = self.continues != Continues::Nothing || is_prompted;
        if self.input.is_empty() && !has_more { Err(ApiError::MissingInput) } else { Ok(()) }
    }

    /// All fields except `input`.
    pub(crate) fn object(&self) -> Object<'_> {
        Object::parse(self.fields.as_bytes()).expect("the fields were parsed")
    }

    /// The obfuscation mode of the stream's deltas.
    pub(crate) fn obfuscation(&self) -> Obfuscation {
        obfuscation(&self.object())
    }

    /// Whether the request names a prompt stored by the provider, which adds to the input.
    pub(crate) fn is_prompted(&self) -> bool {
        self.object().present("prompt").is_some()
    }
}

/// Parses a body as an object.
pub(crate) fn parse_object(body: &[u8]) -> Result<Object<'_>, ApiError> {
    Object::parse(body).map_err(|_| match serde_json::from_slice::<&RawValue>(body) {
        Ok(raw) if !raw.get().starts_with('{') => {
            ApiError::NotAnObject { got: json::type_name(raw.get()) }
        }
        _ => ApiError::NotJson,
    })
}

/// The model that the request names.
pub(crate) fn required_model(fields: &Object<'_>) -> Result<String, ApiError> {
    let model = string(fields, "model")?
        .ok_or_else(|| ApiError::MissingParameter { name: "model".into() })?;
    if model.is_empty() {
        return Err(ApiError::MissingParameter { name: "model".into() });
    }
    check_model(&model)?;
    Ok(model)
}

/// The maximum length of a model's name in characters.
const MAX_MODEL: usize = 256;

/// Rejects a model name that is too long, because errors and all log lines of the request contain
/// it.
pub(crate) fn check_model(model: &str) -> Result<(), ApiError> {
    within("model", model, MAX_MODEL)
}

/// The maximum length in characters of a field's name that an error repeats.
const MAX_SHOWN: usize = 256;

/// Rejects unknown fields, with the provider's error text.
pub(crate) fn check_known(fields: &Object<'_>, known: &[&str]) -> Result<(), ApiError> {
    match fields.iter().find(|(key, _)| !known.contains(key)) {
        None => Ok(()),
        Some((key, _)) => {
            Err(ApiError::UnknownParameter { name: key.chars().take(MAX_SHOWN).collect() })
        }
    }
}

fn check_input_source(fields: &Object<'_>) -> Result<(), ApiError> {
    let sources = ["input", "previous_response_id", "prompt", "conversation"];
    match sources.iter().any(|key| fields.present(key).is_some()) {
        true => Ok(()),
        false => Err(ApiError::MissingInput),
    }
}

/// The state that a request with these fields continues.
pub(crate) fn continues(fields: &Object<'_>) -> Result<Continues, ApiError> {
    let previous = string(fields, "previous_response_id")?;
    match (conversation(fields)?, previous) {
        (Some(_), Some(_)) => Err(ApiError::MutuallyExclusive {
            path: None,
            given: String::new(),
            choices: "'previous_response_id' or 'conversation'",
        }),
        (Some(id), None) => Ok(Continues::Conversation(id)),
        (None, Some(id)) => Ok(Continues::Response(id)),
        (None, None) => Ok(Continues::Nothing),
    }
}

/// `conversation`: an id, or an object with an `id`.
pub(crate) fn conversation(fields: &Object<'_>) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present("conversation") else {
        return Ok(None);
    };
    if let Some(id) = json::unquote(raw) {
        return Ok(Some(id.into_owned()));
    }
    let Ok(object) = Object::parse(raw.as_bytes()) else {
        let got = json::type_name(raw);
        return Err(ApiError::WrongType {
            path: "conversation".into(),
            expected: "a string or an object",
            got,
        });
    };
    match object.present("id") {
        None => Err(ApiError::MissingParameter { name: "conversation.id".into() }),
        Some(id) => json::unquote(id)
            .map(|id| Some(id.into_owned()))
            .ok_or_else(|| wrong_type("conversation.id", "a string", id)),
    }
}

fn string(fields: &Object<'_>, key: &str) -> Result<Option<String>, ApiError> {
    let Some(raw) = fields.present(key) else {
        return Ok(None);
    };
    let text = json::unquote(raw).ok_or_else(|| wrong_type(key, "a string", raw))?;
    Ok(Some(text.into_owned()))
}

pub(crate) fn boolean(fields: &Object<'_>, key: &str) -> Result<Option<bool>, ApiError> {
    match fields.present(key) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(raw) => Err(wrong_type(key, "a boolean", raw)),
    }
}

/// The error for a value with a wrong type at `path`.
pub(crate) fn wrong_type(path: &str, expected: &'static str, raw: &str) -> ApiError {
    ApiError::WrongType { path: path.into(), expected, got: json::type_name(raw) }
}
