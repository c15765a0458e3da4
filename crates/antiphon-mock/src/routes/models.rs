//! `/v1/models`.

use serde_json::{Value, json};

use super::route_request::RouteRequest;
use crate::{Options, Refusal};

/// The models to list if every name exists: one that reasons and one that does not.
const SOME: [&str; 2] = ["fake-model", "plain-model"];

pub(super) fn list(request: &RouteRequest<'_>) -> Value {
    let models: Vec<Value> = names(&request.shared.options).map(model).collect();
    json!({"object": "list", "data": models})
}

pub(super) fn retrieve(request: &RouteRequest<'_>, id: &str) -> Result<Value, Refusal> {
    match request.shared.options.has_model(id) {
        true => Ok(model(id)),
        false => Err(Refusal::model_not_served(id)),
    }
}

fn names(options: &Options) -> impl Iterator<Item = &str> {
    let some = SOME.into_iter().filter(|_| options.models.is_empty());
    options.models.iter().map(String::as_str).chain(some)
}

fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "provider"})
}
