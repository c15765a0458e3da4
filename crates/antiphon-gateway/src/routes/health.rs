//! Liveness and readiness of the gateway.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::gateway::Gateway;
use crate::store_health::StoreHealth;

/// `GET /healthz`: any answer proves that the process runs. It succeeds also while the gateway
/// stops.
pub(super) async fn live() -> &'static str {
    "ok"
}

/// `GET /readyz`: 503 if the gateway would reject new turns because it stops, or if they would fail
/// because the store cannot be read or written.
pub(super) async fn ready(State(gateway): State<Arc<Gateway>>) -> (StatusCode, &'static str) {
    if gateway.stopping.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the gateway is stopping");
    }
    match gateway.readiness.check(&*gateway.store, &gateway.write_check).await {
        StoreHealth::Working => (StatusCode::OK, "ok"),
        StoreHealth::UnreadableSeal => {
            (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read")
        }
        StoreHealth::Unwritable => (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be written"),
    }
}
