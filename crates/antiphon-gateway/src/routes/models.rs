//! `GET /v1/models`

use std::sync::Arc;

use antiphon::json::Object;
use axum::extract::State;
use axum::response::Response;

use super::json;
use crate::caller::Caller;
use crate::gateway::Gateway;
use crate::upstream::SIM;

/// What can be asked: the built-in model, and what the upstream lists. An upstream that lists
/// nothing may answer for names that it does not list.
pub(super) async fn list(State(gateway): State<Arc<Gateway>>, caller: Caller) -> Response {
    let listed = match gateway.upstreams.models(&caller).await {
        Some(Ok(body)) => upstream_models(&body),
        Some(Err(error)) => {
            tracing::warn!(%error, "the upstream does not list its models");
            Vec::new()
        }
        None => Vec::new(),
    };
    let own = format!(r#"{{"id":"{SIM}","object":"model","created":0,"owned_by":"antiphon"}}"#);
    let models: Vec<String> = std::iter::once(own).chain(listed).collect();
    json(format!(r#"{{"object":"list","data":[{}]}}"#, models.join(",")))
}

fn upstream_models(body: &[u8]) -> Vec<String> {
    let data = |body: &Object<'_>| {
        let models: Vec<Object<'_>> = serde_json::from_str(body.get("data")?).ok()?;
        Some(models.iter().map(Object::to_text).collect())
    };
    Object::parse(body).ok().as_ref().and_then(data).unwrap_or_default()
}
