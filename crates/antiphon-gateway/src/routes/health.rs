//! Whether the gateway lives, and whether it can be given work.

use std::sync::Arc;
use std::time::Duration;

use antiphon_store::{ConversationId, Shard, Tenant};
use axum::extract::State;
use http::StatusCode;
use tokio::time::timeout;

use crate::entropy::RandomIds;
use crate::gateway::Gateway;

/// `GET /healthz`: who answers lives, also while it stops.
pub(super) async fn live() -> &'static str {
    "ok"
}

/// How long the store may take to be looked into.
const STORE: Duration = Duration::from_secs(5);

/// `GET /readyz`: 503 where new turns would be refused, because the gateway stops, or would fail,
/// because the store cannot be read.
pub(super) async fn ready(State(gateway): State<Arc<Gateway>>) -> (StatusCode, &'static str) {
    if gateway.stopping.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the gateway is stopping");
    }
    match reads_store(&gateway).await {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read"),
    }
}

/// Looks up a conversation that there is not.
async fn reads_store(gateway: &Gateway) -> bool {
    let id = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
    let nobody = Tenant::new("readiness");
    let found = timeout(STORE, gateway.store.conversation(&nobody, &id)).await;
    matches!(found, Ok(Ok(_)))
}
