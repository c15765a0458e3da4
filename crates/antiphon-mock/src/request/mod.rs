//! Parsing and stateless validation of a request for a turn.

mod fields;
mod schema;

use serde_json::{Value, json};

pub(crate) use fields::metadata;
pub(crate) use schema::bounded_array;

use crate::judge::{Item, includes_encrypted_reasoning, reasons, shape};
use crate::{Options, Refusal};

/// The body of `POST /v1/responses`.
pub(crate) struct Create<'a> {
    pub(crate) body: &'a Value,
    pub(crate) model: &'a str,
    /// The input's items as sent; a string becomes a user message.
    pub(crate) input: Vec<Value>,
    pub(crate) conversation: Option<&'a str>,
    pub(crate) previous: Option<&'a str>,
    pub(crate) store: bool,
    pub(crate) stream: bool,
    pub(crate) background: bool,
}

impl<'a> Create<'a> {
    /// Validates in the provider's order: the model, the input, field names, then field types. The
    /// rules of state come later.
    pub(crate) fn read(body: &'a Value, options: &Options) -> Result<Self, Refusal> {
        let model = model(body)?;
        require_input(body)?;
        if options.is_strict() && options.profile.served().knows_its_fields {
            fields::reject_unknown(body)?;
        }
        schema::check(body)?;
        let input = items(&body["input"]);
        check_items(&input, options.is_strict())?;
        if !options.has_model(model) {
            return Err(Refusal::unknown_model(model));
        }
        if options.is_strict() && !reasons(model) && includes_encrypted_reasoning(body) {
            return Err(Refusal::encrypted_reasoning_unsupported());
        }
        let create = Self {
            body,
            model,
            input,
            conversation: conversation(body)?,
            previous: id(&body["previous_response_id"], "previous_response_id", "resp")?,
            store: body["store"] != false,
            stream: body["stream"] == true,
            background: body["background"] == true,
        };
        if create.background && !create.store {
            return Err(Refusal::background_needs_store());
        }
        Ok(create)
    }
}

fn model(body: &Value) -> Result<&str, Refusal> {
    if !body.is_object() {
        return Err(Refusal::wrong_type("body", "an object", body));
    }
    match &body["model"] {
        Value::Null => Err(Refusal::missing_parameter("model")),
        Value::String(model) => Ok(model),
        other => Err(Refusal::wrong_type("model", "a string", other)),
    }
}

fn require_input(body: &Value) -> Result<(), Refusal> {
    let sources = ["input", "previous_response_id", "prompt", "conversation"];
    match sources.iter().all(|source| body[*source].is_null()) {
        true => Err(Refusal::missing_input()),
        false => Ok(()),
    }
}

fn items(input: &Value) -> Vec<Value> {
    match input {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        input => input.as_array().cloned().unwrap_or_default(),
    }
}

/// Validates each item alone: it is an object, a reference has an id and, in strict mode, its ids
/// have the right form.
pub(crate) fn check_items(items: &[Value], is_strict: bool) -> Result<(), Refusal> {
    items.iter().enumerate().try_for_each(|place| {
        let item = Item::read(place)?;
        match is_reference(place.1) {
            true if item.id().is_none() => Err(Refusal::missing_parameter(&item.param("id"))),
            false if is_strict => shape::check(&item),
            _ => Ok(()),
        }
    })
}

/// Whether an item is a reference to a stored one. A reference may omit its type.
pub(crate) fn is_reference(item: &Value) -> bool {
    let names_only = || item["type"].is_null() && item["role"].is_null() && item["id"].is_string();
    item["type"] == "item_reference" || names_only()
}

fn conversation(body: &Value) -> Result<Option<&str>, Refusal> {
    match &body["conversation"] {
        Value::Object(fields) => {
            let named = fields.get("id").unwrap_or(&Value::Null);
            match id(named, "conversation.id", "conv")? {
                None => Err(Refusal::missing_parameter("conversation.id")),
                named => Ok(named),
            }
        }
        named => id(named, "conversation", "conv"),
    }
}

fn id<'a>(value: &'a Value, param: &str, prefix: &str) -> Result<Option<&'a str>, Refusal> {
    match value.as_str() {
        Some(id) if !id.starts_with(prefix) => Err(Refusal::wrong_prefix(param, id, prefix)),
        named => Ok(named),
    }
}
