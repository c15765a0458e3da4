//! `GET /v1/responses`, upgraded to a WebSocket.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{OriginalUri, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use tokio_tungstenite::tungstenite::Error as LinkError;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tracing::Instrument as _;

use super::wrong_method;
use crate::browser::{allowed_origin, is_same_origin};
use crate::caller::Caller;
use crate::connections::Upgrade;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::websocket::Socket;

/// Opens a WebSocket. A `GET` without an upgrade is a wrong method.
///
/// A browser lets any page open a WebSocket to any host, with the access that the network or a
/// proxy grants to the user. It sends the origin of the page, so pages of other hosts are rejected.
/// Source: RFC 6455, section 10.2.
pub(super) async fn open(
    State(gateway): State<Arc<Gateway>>,
    caller: Caller,
    Extension(connection): Extension<Upgrade>,
    OriginalUri(uri): OriginalUri,
    mut request: Request,
) -> Response {
    let response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(error) if request.headers().contains_key(header::UPGRADE) => return refused(&error),
        Err(_) => {
            let allowed = [(header::ALLOW, "POST")];
            return (allowed, wrong_method(request.method(), &uri)).into_response();
        }
    };
    if !may_open(&gateway, request.headers()) {
        return ApiError::ForeignOrigin { page: "another host".into() }.into_response();
    }
    let upgraded = hyper::upgrade::on(&mut request);
    let serving = async move {
        match upgraded.await {
            Ok(upgraded) => Socket::new(gateway, caller, upgraded).await.serve().await,
            Err(error) => tracing::debug!(%error, "a connection broke before it was upgraded"),
        }
    };
    connection.serve_upgraded(serving.in_current_span());
    response
}

/// Whether the request may open a WebSocket. It may if it does not come from a web page, or if the
/// page is from this host or from an origin that the operator allows.
fn may_open(gateway: &Gateway, headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    is_same_origin(origin, headers) || allowed_origin(&gateway.settings, headers).is_some()
}

/// The error for an invalid upgrade. If the client uses another protocol version, the answer names
/// the supported one. Source: RFC 6455, section 4.4.
fn refused(error: &LinkError) -> Response {
    let is_version =
        matches!(error, LinkError::Protocol(ProtocolError::MissingSecWebSocketVersionHeader));
    let reason = error.to_string();
    let error = match is_version {
        true => ApiError::WrongWebSocketVersion { reason },
        false => ApiError::NotUpgradable { reason },
    };
    let mut response = error.into_response();
    if is_version {
        let version = HeaderValue::from_static("13");
        response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, version);
    }
    response
}
