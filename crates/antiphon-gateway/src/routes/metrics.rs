//! `GET /metrics`: the metrics in the text format of Prometheus.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, header};

use super::{not_allowed, unknown_route};
use crate::browser::{PageGuard, protect};
use crate::error::ApiError;
use crate::gateway::Gateway;

/// The version of the text format.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The router of a listener that serves only the metrics. `address` is its IP address.
pub(crate) fn metrics_router(gateway: &Arc<Gateway>, address: IpAddr) -> Router {
    Router::new()
        .route("/metrics", get(show_alone))
        .fallback(unknown_route)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(PageGuard::of_open_listener(gateway, address), protect))
        .with_state(Arc::clone(gateway))
}

/// `GET /metrics` of the main listener, which needs the key of the operator.
pub(super) async fn show(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    match gateway.settings.metrics.key {
        Some(_) => answer(&gateway, &headers),
        None => ApiError::NoMetricsKey.into_response(),
    }
}

/// `GET /metrics` of a listener of its own. A key is needed only if there is one.
async fn show_alone(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Response {
    answer(&gateway, &headers)
}

fn answer(gateway: &Gateway, headers: &HeaderMap) -> Response {
    match check_key(gateway, headers) {
        Ok(()) => {
            let text = gateway.metrics.to_text(gateway.sample());
            ([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response()
        }
        Err(error) => {
            gateway.refused_callers.count();
            gateway.metrics.refused_callers.inc();
            error.into_response()
        }
    }
}

fn check_key(gateway: &Gateway, headers: &HeaderMap) -> Result<(), ApiError> {
    let key = gateway.settings.metrics.key;
    key.map_or(Ok(()), |key| gateway.authenticator.check_operator(key, headers))
}
