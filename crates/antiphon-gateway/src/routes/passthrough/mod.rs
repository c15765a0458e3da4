//! All other routes below `/v1`: forwards requests to an upstream unchanged.
//!
//! The upstream receives the caller's method, path, query and body, and the caller receives the
//! upstream's answer byte for byte, as it arrives. The gateway never retries such a request: only
//! the caller knows whether that is safe. Only the answers of client APIs may change: they lose
//! calls that the upstream announces twice.
//!
//! These do not pass:
//! - Headers of a single connection, cookies, and headers about the network in front of the gateway
//!   (`headers.rs`).
//! - Paths that two servers may interpret differently (`foreign_path.rs`).
//! - Requests that the operator excludes. If tenants share one account, `scope.rs` has the rule.

mod answer;
mod body;
mod form;
pub(super) mod headers;
mod scope;
mod upload;

use std::sync::Arc;

use antiphon::dialect::{ClientApi, Vendor};
use axum::Extension;
use axum::extract::{OriginalUri, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodFilter;
use http::request::Parts;
use http::{HeaderMap, Method, Uri, header};

pub(super) use self::answer::stream_answer;
pub(super) use self::body::InspectedBody;
use self::upload::Upload;
use super::unknown_url;
use crate::error::ApiError;
use crate::foreign_path::ForeignPath;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::request::check_model;
use crate::request_body::discard;
use crate::upstream::{
    HttpUpstream, PassthroughAnswer, PassthroughRequest, Upstream, UpstreamError,
};

/// The methods that pass. `TRACE` does not: its answer would reveal the upstream's key.
pub(super) const METHODS: MethodFilter = MethodFilter::GET
    .or(MethodFilter::HEAD)
    .or(MethodFilter::POST)
    .or(MethodFilter::PUT)
    .or(MethodFilter::PATCH)
    .or(MethodFilter::DELETE)
    .or(MethodFilter::OPTIONS);

/// Forwards a request to any path below `/v1` without a route of its own.
pub(super) async fn pass_through(
    State(gateway): State<Arc<Gateway>>,
    Extension(permit): Extension<TurnPermit>,
    OriginalUri(uri): OriginalUri,
    request: Request,
) -> Response {
    let path = match check_head(&gateway, &request, &uri) {
        Ok(path) => path,
        Err(error) => {
            discard(request, &gateway.settings.limits).await;
            return error.into_response();
        }
    };
    let passed = forward(&gateway, path, request).await;
    match passed {
        Ok(passed) => stream_answer(gateway, passed, Some(permit)).await,
        Err(error) => error.into_response(),
    }
}

/// The path, if the head of the request does not exclude it from passing.
fn check_head<'a>(
    gateway: &Gateway,
    request: &Request,
    uri: &'a Uri,
) -> Result<ForeignPath<'a>, ApiError> {
    let method = request.method();
    let path = uri.path().strip_prefix("/v1").and_then(ForeignPath::parse);
    let path = path.ok_or_else(|| unknown_url(method, uri))?;
    if asks_for_websocket(request.headers()) {
        return Err(ApiError::WebSocketNotForwarded { path: uri.path().into() });
    }
    upstream_for_path(gateway, (method, path), request.headers()).map(|_| path)
}

/// Whether the request asks for a WebSocket. Other upgrades, for example to HTTP/2, are offers that
/// a server may ignore.
fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).map(http::HeaderValue::as_bytes);
    upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"))
}

async fn forward(
    gateway: &Arc<Gateway>,
    path: ForeignPath<'_>,
    request: Request,
) -> Result<PassthroughAnswer, ApiError> {
    let is_json = scope::is_json(request.method(), path);
    let (parts, body) = InspectedBody::read(request, is_json, gateway).await?;
    match choose_upstream(gateway, path, &parts, &body) {
        Ok(upstream) => send(gateway, upstream, path, &parts, body).await,
        Err(error) => {
            if let InspectedBody::Begun { rest, .. } = body {
                discard(Request::from_parts(parts, rest), &gateway.settings.limits).await;
            }
            Err(error)
        }
    }
}

/// Forwards a request whose body was read to an upstream that has its path.
pub(super) async fn forward_whole(
    gateway: &Arc<Gateway>,
    upstream: &HttpUpstream,
    parts: &Parts,
    body: InspectedBody,
    permit: TurnPermit,
) -> Result<Response, ApiError> {
    let passed = send_whole(gateway, upstream, parts, body).await?;
    Ok(stream_answer(Arc::clone(gateway), passed, Some(permit)).await)
}

/// Forwards a request as [`forward_whole`] does. Removes repeated calls from the answer, which has
/// the API `api`.
pub(super) async fn forward_with_tools(
    api: ClientApi,
    gateway: &Arc<Gateway>,
    upstream: &HttpUpstream,
    (mut parts, body): (Parts, InspectedBody),
    permit: TurnPermit,
) -> Result<Response, ApiError> {
    // The calls of a compressed answer cannot be read.
    parts.headers.remove(header::ACCEPT_ENCODING);
    let passed = send_whole(gateway, upstream, &parts, body).await?;
    let passed = passed.without_repeated_calls(api, gateway.settings.limits.max_item_bytes);
    Ok(stream_answer(Arc::clone(gateway), passed, Some(permit)).await)
}

async fn send_whole(
    gateway: &Gateway,
    upstream: &HttpUpstream,
    parts: &Parts,
    body: InspectedBody,
) -> Result<PassthroughAnswer, ApiError> {
    let path = ForeignPath::parse(parts.uri.path()).expect("it is the path of a route");
    scope::check(gateway, upstream, (&parts.method, path), body.whole())?;
    send(gateway, upstream, path, parts, body).await
}

/// The upstream for the request, if it may pass. A model selects it in the same way as for turns.
/// Without a model, the API of the path selects it.
fn choose_upstream<'a>(
    gateway: &'a Gateway,
    path: ForeignPath<'_>,
    parts: &Parts,
    body: &InspectedBody,
) -> Result<&'a HttpUpstream, ApiError> {
    let upstream = match body.model() {
        Some(model) => {
            check_model(&model)?;
            upstream_for_model(gateway, &model, path)?
        }
        None => upstream_for_path(gateway, (&parts.method, path), &parts.headers)?,
    };
    scope::check(gateway, upstream, (&parts.method, path), body.whole())?;
    Ok(upstream)
}

/// The upstream for a path. Anthropic's clients send the API version in every request.
fn upstream_for_path<'a>(
    gateway: &'a Gateway,
    (method, path): (&Method, ForeignPath<'_>),
    headers: &HeaderMap,
) -> Result<&'a HttpUpstream, ApiError> {
    let is_anthropics = path.is_anthropics() || headers.contains_key("anthropic-version");
    let vendor = if is_anthropics { Vendor::Anthropic } else { Vendor::OpenAi };
    gateway.upstreams.for_vendor(vendor).ok_or_else(|| ApiError::NoUpstreamForPath {
        method: method.clone(),
        path: path.as_str().into(),
    })
}

fn upstream_for_model<'a>(
    gateway: &'a Gateway,
    model: &str,
    path: ForeignPath<'_>,
) -> Result<&'a HttpUpstream, ApiError> {
    match gateway.upstreams.for_model(model) {
        Some(Upstream::Http(upstream)) => Ok(upstream),
        Some(Upstream::Local(_)) => Err(ApiError::BuiltInModelNotForwarded {
            model: model.into(),
            path: path.as_str().into(),
        }),
        None => Err(ApiError::ModelNotForwarded { model: model.into() }),
    }
}

/// Sends the request. Fails if the caller's body does not arrive, or if the grace period of a stop
/// ends.
async fn send(
    gateway: &Gateway,
    upstream: &HttpUpstream,
    path: ForeignPath<'_>,
    parts: &Parts,
    body: InspectedBody,
) -> Result<PassthroughAnswer, ApiError> {
    let settings = &gateway.settings;
    let tenant_header = settings.tenant_header.as_ref();
    let text = body.whole().cloned();
    let (upload, body) = Upload::new(body, &settings.limits);
    let request = PassthroughRequest {
        method: parts.method.clone(),
        path: match parts.uri.query() {
            Some(query) => format!("{}?{query}", path.as_str()),
            None => path.as_str().to_owned(),
        },
        headers: headers::to_upstream(&parts.headers, upstream.has_own_key(), tenant_header),
        trace: parts.extensions.get().cloned().unwrap_or_default(),
        body,
        text,
    };
    let answer = tokio::select! {
        answer = upstream.pass_through(request, upload.ended()) => answer,
        () = gateway.closing.cancelled() => return Err(ApiError::StoppedBeforeAnswer),
    };
    match (answer, upload.fault()) {
        (Err(UpstreamError::BrokeOff | UpstreamError::Unreachable(_)), Some(fault)) => Err(fault),
        (answer, _) => Ok(answer.inspect_err(|error| upstream.log_unanswered(error))?),
    }
}
