//! `POST /v1/responses/input_tokens`

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;

use super::extract::Body;
use super::json;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::request::CreateRequest;
use crate::settings::LocalModel;
use crate::turn::{Preview, TokenCount};

/// Counts the tokens of the model's input, including the stored items of the conversation. Stores
/// nothing.
///
/// The header `antiphon-tokens` names the source of the count: `upstream`, or `estimated` by the
/// gateway.
pub(super) async fn count(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Response, ApiError> {
    let identity = gateway.digest_key.identify(&headers, &body)?;
    let default_model = gateway.upstreams.local().map(LocalModel::name);
    let request =
        CreateRequest::parse_counted(&body, identity, &gateway.settings.limits, default_model)?;
    let preview = Preview::new(&gateway, &caller, &request).await?;
    let (tokens, whose) = match preview.count_tokens(&gateway, &caller, &request).await? {
        TokenCount::Upstream(tokens) => (tokens, "upstream"),
        TokenCount::Estimated(tokens) => (tokens, "estimated"),
    };
    let counted = format!(r#"{{"object":"response.input_tokens","input_tokens":{tokens}}}"#);
    Ok(([("antiphon-tokens", whose)], json(counted)).into_response())
}
