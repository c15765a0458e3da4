//! The upstream of a new conversation, if its creator names one.
//!
//! `POST /v1/conversations` names no model. With several upstreams, the creator may name a model or
//! an upstream in `metadata`. The conversation is then bound at once and has that upstream's id.
//! Without a hint, the first turn decides (`owner/late_binding.rs`).

use std::sync::Arc;

use antiphon::json::Object;
use axum::extract::{FromRequest as _, Request};

use super::operation::Operation;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::routes::extract::Body;
use crate::upstream::Upstream;

/// The key of `metadata` that names a model.
const MODEL: &str = "antiphon_model";
/// The key of `metadata` that names an upstream.
const UPSTREAM: &str = "antiphon_upstream";

/// The model or upstream that a new conversation is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnerHint {
    Model(String),
    Upstream(String),
}

/// Reads the hint of a request that creates a conversation. Returns the request with its body
/// restored.
pub(super) async fn read(
    gateway: &Arc<Gateway>,
    operation: &Operation,
    request: Request,
) -> Result<(Request, Option<OwnerHint>), ApiError> {
    if *operation != Operation::NewConversation {
        return Ok((request, None));
    }
    let (parts, body) = request.into_parts();
    let Body(body) = Body::from_request(Request::from_parts(parts.clone(), body), gateway).await?;
    let hint = hint_in(&body);
    Ok((Request::from_parts(parts, body.into()), hint))
}

fn hint_in(body: &[u8]) -> Option<OwnerHint> {
    let fields = Object::parse(body).ok()?;
    let metadata = Object::parse(fields.present("metadata")?.as_bytes()).ok()?;
    let named = |key| metadata.string(key).map(String::from);
    named(UPSTREAM).map(OwnerHint::Upstream).or_else(|| named(MODEL).map(OwnerHint::Model))
}

impl OwnerHint {
    /// The upstream that the hint names.
    pub(super) fn upstream<'a>(&self, gateway: &'a Gateway) -> Result<Upstream<'a>, ApiError> {
        match self {
            Self::Model(model) => {
                let found = gateway.upstreams.for_model(model);
                let path = "metadata.antiphon_model";
                found.ok_or_else(|| ApiError::ModelNotFound { path, model: model.clone() })
            }
            Self::Upstream(name) => {
                let found = gateway.upstreams.named(name).map(Upstream::Http);
                found.ok_or_else(|| ApiError::UnknownUpstream {
                    path: format!("metadata.{UPSTREAM}"),
                    name: name.clone(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_contains_the_hint() {
        let model = br#"{"metadata": {"antiphon_model": "m-1", "topic": "rain"}}"#;
        assert_eq!(hint_in(model), Some(OwnerHint::Model("m-1".into())));
        let both = br#"{"metadata": {"antiphon_model": "m-1", "antiphon_upstream": "house"}}"#;
        assert_eq!(hint_in(both), Some(OwnerHint::Upstream("house".into())));
        for none in [&b""[..], b"{}", br#"{"metadata": null}"#, br#"{"metadata": {"a": "b"}}"#] {
            assert_eq!(hint_in(none), None);
        }
    }
}
