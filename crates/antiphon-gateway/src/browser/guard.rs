//! Rejects requests of web pages that are not allowed.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, header};
use http_body::Body as _;

use super::{allowed_origin, cors, host, is_same_origin};
use crate::error::ApiError;
use crate::foreign_path::passes_upstream;
use crate::gateway::Gateway;
use crate::media_type::{is_json, media_type};
use crate::request_body::discard;
use crate::settings::Settings;

/// The rules for requests of web pages on one listener.
#[derive(Clone)]
pub(crate) struct PageGuard {
    gateway: Arc<Gateway>,
    /// Whether requests of foreign pages are rejected.
    is_enforced: bool,
}

impl PageGuard {
    /// The rules for a gateway that listens on this address.
    ///
    /// They are enforced only if nothing else keeps pages out. With API keys, a page does not know
    /// one. With a tenant header, the proxy is responsible. On an address other than loopback, the
    /// gateway serves other machines.
    pub(crate) fn new(gateway: &Arc<Gateway>, address: IpAddr) -> Self {
        let settings = &gateway.settings;
        let is_open = settings.api_keys.is_empty() && settings.tenant_header.is_none();
        let is_enforced = is_open && address.to_canonical().is_loopback();
        Self { gateway: Arc::clone(gateway), is_enforced }
    }

    /// The rules for a listener on this address that needs no key: they are enforced on loopback.
    pub(crate) fn of_open_listener(gateway: &Arc<Gateway>, address: IpAddr) -> Self {
        let is_enforced = address.to_canonical().is_loopback();
        Self { gateway: Arc::clone(gateway), is_enforced }
    }

    /// Admits requests of programs and of pages that the operator allows to `next`. Answers the
    /// preflight requests of these pages.
    pub(crate) async fn protect<F: Future<Output = Response>>(
        &self,
        request: Request,
        next: impl FnOnce(Request) -> F,
    ) -> Response {
        let settings = &self.gateway.settings;
        let allowed = allowed_origin(settings, request.headers()).cloned();
        let mut response = match (self.check(&request), &allowed) {
            (Err(error), _) => {
                discard(request, &settings.limits).await;
                error.into_response()
            }
            (Ok(()), Some(origin)) if cors::is_preflight(&request) => {
                return cors::preflight(&request, origin);
            }
            (Ok(()), _) => next(request).await,
        };
        if let Some(origin) = &allowed {
            cors::expose(response.headers_mut(), origin);
        }
        if !settings.allowed_origins.is_empty() {
            cors::vary(response.headers_mut());
        }
        response
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        if !self.is_enforced {
            return Ok(());
        }
        let (settings, headers) = (&self.gateway.settings, request.headers());
        if !host::is_known(settings, headers) {
            return Err(unknown_host(headers));
        }
        check_page(settings, headers)?;
        check_content_type(request)
    }
}

/// The layer of a router that protects its routes.
pub(crate) async fn protect(
    State(guard): State<PageGuard>,
    request: Request,
    next: Next,
) -> Response {
    guard.protect(request, |request| next.run(request)).await
}

/// Rejects a page unless it is the gateway's own or one that the operator allows. A browser may
/// omit `Origin`, but not `Sec-Fetch-Site`. The value `none` means that the user typed the address.
fn check_page(settings: &Settings, headers: &HeaderMap) -> Result<(), ApiError> {
    if allowed_origin(settings, headers).is_some() {
        return Ok(());
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    if let Some(origin) = origins.find(|origin| !is_same_origin(origin, headers)) {
        let page = format!("origin '{}'", shown(origin.as_bytes()));
        return Err(ApiError::ForeignOrigin { page });
    }
    let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    match site {
        None | Some(b"none" | b"same-origin") => Ok(()),
        Some(_) => Err(ApiError::ForeignOrigin { page: "another origin".into() }),
    }
}

/// Rejects a body whose content type a page can send without a preflight. The gateway's own routes
/// accept only JSON.
fn check_content_type(request: &Request) -> Result<(), ApiError> {
    if request.body().is_end_stream() || is_json(request.headers()) {
        return Ok(());
    }
    match passes_upstream(request.uri().path()) && !is_simple(request.headers()) {
        true => Ok(()),
        false => Err(ApiError::UnsupportedContentType),
    }
}

/// Whether any page may send such a body without a preflight: text, a URL-encoded form, or bytes
/// without a type.
///
/// Multipart forms need no preflight either, but they are accepted: no server reads JSON from them,
/// and unmodified clients use them to upload files. Source: the Fetch standard, "CORS-safelisted
/// request-header".
fn is_simple(headers: &HeaderMap) -> bool {
    ["", "text/plain", "application/x-www-form-urlencoded"].contains(&&*media_type(headers))
}

fn unknown_host(headers: &HeaderMap) -> ApiError {
    let host = headers.get(header::HOST).map(|host| shown(host.as_bytes())).unwrap_or_default();
    ApiError::UnknownHost { host }
}

/// The maximum length of a host name.
const MAX_SHOWN: usize = 253;

/// A header value, made safe for an error message.
fn shown(value: &[u8]) -> String {
    let text = value.iter().take(MAX_SHOWN).map(|&byte| char::from(byte));
    text.map(|char| if char.is_ascii_graphic() { char } else { '?' }).collect()
}
