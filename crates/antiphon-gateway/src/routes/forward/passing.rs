//! A request on its way to the upstream that keeps what it is about.

use std::future::ready;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::super::passthrough::{headers, shown, stopped};
use crate::alias::Alias;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::limits::TurnPermit;
use crate::upstream::{Foreign, HttpUpstream, Passed, whole};

/// A request that is there as a whole.
pub(super) struct Passing<'a> {
    gateway: &'a Arc<Gateway>,
    http: &'a HttpUpstream,
    request: Foreign,
    alias: Option<Alias>,
}

/// An answer that is there as a whole.
pub(super) struct Heard {
    /// Its status.
    pub(super) status: StatusCode,
    headers: HeaderMap,
    /// Its body.
    pub(super) body: Bytes,
    alias: Option<Alias>,
}

/// The encoding of an answer that is read here.
const PLAIN: HeaderValue = HeaderValue::from_static("identity");

impl<'a> Passing<'a> {
    /// The request as it came: method, path, query, headers (but those of `passthrough/headers.rs`) and
    /// body.
    pub(super) fn new(
        gateway: &'a Arc<Gateway>,
        http: &'a HttpUpstream,
        parts: &Parts,
        body: Bytes,
    ) -> Self {
        let tenant_header = gateway.settings.tenant_header.as_ref();
        // Behind `/v1`: where routes are nested, each sees its part of the path.
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = Foreign {
            method: parts.method.clone(),
            path: path.to_owned(),
            headers: headers::to_upstream(&parts.headers, http.has_own_key(), tenant_header),
            body: whole(body),
        };
        Self { gateway, http, request, alias: None }
    }

    /// The same about a conversation that the upstream knows by another id than callers.
    pub(super) fn known_as(mut self, alias: Option<Alias>) -> Self {
        if let Some(alias) = &alias {
            self.request.path = alias.path(&self.request.path);
            self.request.headers.insert(header::ACCEPT_ENCODING, PLAIN);
        }
        Self { alias, ..self }
    }

    /// Makes it, and tells the answer as it comes.
    pub(super) async fn told_as_it_comes(
        self,
        permit: Option<TurnPermit>,
    ) -> Result<Response, ApiError> {
        let (gateway, alias) = (Arc::clone(self.gateway), self.alias.clone());
        Ok(shown(gateway, self.made().await?.known_as(alias), permit))
    }

    /// Makes it, and waits for the whole answer.
    pub(super) async fn heard(mut self) -> Result<Heard, ApiError> {
        // What is compressed cannot be learned from.
        self.request.headers.insert(header::ACCEPT_ENCODING, PLAIN);
        let (gateway, limit, alias) = (self.gateway, self.http.max_answer(), self.alias.clone());
        let passed = self.made().await?;
        let (status, headers) = (passed.status, headers::to_caller(&passed.headers));
        let body = tokio::select! {
            body = passed.whole(limit) => body?,
            () = gateway.closing.cancelled() => return Err(stopped()),
        };
        Ok(Heard { status, headers, body, alias })
    }

    async fn made(self) -> Result<Passed, ApiError> {
        tokio::select! {
            answer = self.http.pass(self.request, ready(())) => Ok(answer?),
            () = self.gateway.closing.cancelled() => Err(stopped()),
        }
    }
}

impl Heard {
    /// The answer as it came, but for the id of a conversation that callers know by another.
    pub(super) fn told(mut self) -> Response {
        if let Some(alias) = &self.alias {
            self.headers.remove(header::CONTENT_LENGTH);
            self.body = alias.answer(&self.body);
        }
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
