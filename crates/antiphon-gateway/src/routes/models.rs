//! `GET /v1/models`

use std::sync::Arc;

use antiphon::json::{Object, quote};
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use super::client_api::{
    anthropic_list, anthropic_model, gemini_list, gemini_model, is_from_anthropics_client,
    is_from_gemini_client,
};
use super::extract::Path;
use super::json;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The local model and the models that the upstreams list. An upstream may serve models that it
/// does not list. Anthropic's and Google's clients get their form of the list.
pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
) -> Response {
    let models = listed_models(&gateway, &caller).await;
    if is_from_anthropics_client(&headers) {
        return json(anthropic_list(&models));
    }
    if is_from_gemini_client(&headers) {
        return json(gemini_list(&models));
    }
    json(format!(r#"{{"object":"list","data":[{}]}}"#, models.join(",")))
}

/// `GET /v1/models/{model}`
pub(super) async fn show(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let model = find_model(&gateway, &caller, &id).await?;
    Ok(json(if is_from_anthropics_client(&headers) {
        anthropic_model(&model)
    } else if is_from_gemini_client(&headers) {
        gemini_model(&model)
    } else {
        model
    }))
}

/// The listed model with this id, in the form of OpenAI's Models API.
pub(super) async fn find_model(
    gateway: &Gateway,
    caller: &Caller,
    id: &str,
) -> Result<String, ApiError> {
    let is_it = |model: &String| {
        Object::parse(model.as_bytes())
            .is_ok_and(|model| model.get("id") == Some(quote(id).as_str()))
    };
    let model = listed_models(gateway, caller).await.into_iter().find(is_it);
    model.ok_or_else(|| ApiError::ModelNotListed { model: id.to_owned() })
}

/// The listed models, in the form of OpenAI's Models API.
pub(super) async fn listed_models(gateway: &Gateway, caller: &Caller) -> Vec<String> {
    let listed = gateway.upstreams.models(caller).await;
    let local = gateway.upstreams.local().map(|local| {
        let id = quote(local.name);
        format!(r#"{{"id":{id},"object":"model","created":0,"owned_by":"antiphon"}}"#)
    });
    local.into_iter().chain(listed).collect()
}
