//! Everything else below `/v1`: requests of the API's other parts, which pass to an upstream as they
//! came.
//!
//! Method, path, query and body are the caller's, and the answer is the upstream's, byte for byte as it
//! comes. A request is made once: only its caller knows whether it may be made again. What does not
//! pass: what concerns one connection only, cookies, what tells of the network in front of the gateway
//! (`headers.rs`); a path that two servers may understand differently (`path.rs`); and whatever the
//! operator does not let pass, of which `scope.rs` has the rule where tenants share one account.

mod body;
mod form;
mod headers;
mod path;
mod scope;
mod upload;

use std::sync::Arc;

use axum::Extension;
use axum::body::Body as AxumBody;
use axum::extract::{OriginalUri, Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri, header};

use self::body::Seen;
use self::path::ForeignPath;
use self::upload::Upload;
use super::extract::pass_over;
use super::{unknown_url, wrong_method};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::upstream::{Foreign, HttpUpstream, Passed, SIM, Upstream, UpstreamError};

/// Any method, any path below `/v1` that no other route has.
pub(super) async fn pass(
    State(gateway): State<Arc<Gateway>>,
    Extension(permit): Extension<TurnPermit>,
    OriginalUri(uri): OriginalUri,
    request: Request,
) -> Response {
    if let Err(error) = check_head(&gateway, &request, &uri) {
        pass_over(request, &gateway.settings.limits).await;
        return error.into_response();
    }
    let passed = passed(&gateway, request).await;
    passed.map_or_else(|error| error.into_response(), |passed| shown(gateway, passed, permit))
}

/// What can be told from the head alone.
fn check_head(gateway: &Gateway, request: &Request, uri: &Uri) -> Result<(), ApiError> {
    let (method, headers) = (request.method(), request.headers());
    let path = ForeignPath::parse(request.uri().path()).ok_or_else(|| unknown_url(method, uri))?;
    // The one would tell the upstream's key, the other means no resource at all.
    if [Method::TRACE, Method::CONNECT].contains(method) {
        return Err(wrong_method(method, uri));
    }
    if gateway.upstreams.of_api(path.is_anthropics()).is_none() {
        return Err(ApiError::not_found(format!(
            "Invalid URL ({method} {}): there is no upstream to which it could pass (--upstream).",
            uri.path()
        )));
    }
    match asks_for_websocket(headers) {
        true => Err(ApiError::invalid(format!("WebSockets do not pass at {}.", uri.path()))),
        false => Ok(()),
    }
}

/// Other upgrades, as to HTTP/2, are offers that need not be taken.
fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).map(http::HeaderValue::as_bytes);
    upgrade.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket"))
}

async fn passed(gateway: &Arc<Gateway>, request: Request) -> Result<Passed, ApiError> {
    let is_json = ForeignPath::parse(request.uri().path())
        .is_some_and(|path| scope::is_json(request.method(), path));
    let (parts, seen) = Seen::read(request, is_json, gateway).await?;
    match chosen(gateway, &parts, &seen) {
        Ok(upstream) => ask(gateway, upstream, &parts, seen).await,
        Err(error) => {
            if let Seen::Begun { rest, .. } = seen {
                pass_over(Request::from_parts(parts, rest), &gateway.settings.limits).await;
            }
            Err(error)
        }
    }
}

/// Who gets the request, if it may have it: whoever answers for its model, as with turns; for one that
/// names none, whoever speaks the API that it belongs to.
fn chosen<'a>(
    gateway: &'a Gateway,
    parts: &Parts,
    seen: &Seen,
) -> Result<&'a HttpUpstream, ApiError> {
    let path = ForeignPath::parse(parts.uri.path());
    let path = path.ok_or_else(|| unknown_url(&parts.method, &parts.uri))?;
    let upstream = match seen.model() {
        Some(model) => of_model(gateway, &model, path)?,
        None => {
            let is_anthropics =
                path.is_anthropics() || parts.headers.contains_key("anthropic-version");
            let upstream = gateway.upstreams.of_api(is_anthropics);
            upstream.ok_or_else(|| unknown_url(&parts.method, &parts.uri))?
        }
    };
    scope::check(gateway, upstream, (&parts.method, path), seen.whole())?;
    Ok(upstream)
}

fn of_model<'a>(
    gateway: &'a Gateway,
    model: &str,
    path: ForeignPath<'_>,
) -> Result<&'a HttpUpstream, ApiError> {
    let message = match gateway.upstreams.of_model(model) {
        Some(Upstream::Http(upstream)) => return Ok(upstream),
        Some(Upstream::Sim) => format!(
            "The model '{SIM}' is built in and answers at /v1/responses alone: /v1{} passes to \
             upstreams, which do not have it.",
            path.as_str()
        ),
        None => format!("The model '{model}' does not exist."),
    };
    Err(ApiError::not_found(message).code("model_not_found").param("model"))
}

/// Makes the request. It ends where the caller's body does not come, or a stop waits no longer.
async fn ask(
    gateway: &Gateway,
    upstream: &HttpUpstream,
    parts: &Parts,
    seen: Seen,
) -> Result<Passed, ApiError> {
    let settings = &gateway.settings;
    let tenant_header = settings.tenant_header.as_ref();
    let (upload, body) = Upload::of(seen, &settings.limits);
    let request = Foreign {
        method: parts.method.clone(),
        path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: headers::to_upstream(&parts.headers, upstream.has_own_key(), tenant_header),
        body,
    };
    let answer = tokio::select! {
        answer = upstream.pass(request, upload.ended()) => answer,
        () = gateway.closing.cancelled() => return Err(stopped()),
    };
    match (answer, upload.fault()) {
        (Err(UpstreamError::BrokeOff | UpstreamError::Unreachable(_)), Some(fault)) => Err(fault),
        (answer, _) => Ok(answer?),
    }
}

/// The answer, as it comes.
fn shown(gateway: Arc<Gateway>, passed: Passed, permit: TurnPermit) -> Response {
    let (status, headers) = (passed.head.status, headers::to_caller(&passed.head.headers));
    let open = Open { gateway, passed, _permit: permit };
    let pieces = stream::unfold(Some(open), async |open| {
        let mut open = open?;
        let piece = open.next().await?;
        let open = piece.is_ok().then_some(open);
        Some((piece, open))
    });
    let mut response = Response::new(AxumBody::from_stream(pieces));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// An answer that has begun. It counts as an open turn until its end.
struct Open {
    gateway: Arc<Gateway>,
    passed: Passed,
    _permit: TurnPermit,
}

impl Open {
    /// The next bytes. It breaks off when a stop waits no longer.
    async fn next(&mut self) -> Option<Result<Bytes, UpstreamError>> {
        tokio::select! {
            piece = self.passed.next() => piece,
            () = self.gateway.closing.cancelled() => Some(Err(UpstreamError::BrokeOff)),
        }
    }
}

fn stopped() -> ApiError {
    let message = "The gateway stopped before the upstream had answered.";
    ApiError::server(StatusCode::SERVICE_UNAVAILABLE, message)
}
