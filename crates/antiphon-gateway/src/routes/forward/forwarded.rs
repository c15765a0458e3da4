//! A request on its way to the upstream that owns its subject.

use std::future::ready;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::super::passthrough::{headers, stream_answer};
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::id_mapping::IdMapping;
use crate::limits::TurnPermit;
use crate::upstream::{HttpUpstream, PassthroughAnswer, PassthroughRequest, request_body};

/// A request with its whole body.
pub(super) struct ForwardedRequest<'a> {
    gateway: &'a Arc<Gateway>,
    http: &'a HttpUpstream,
    request: PassthroughRequest,
    mapping: Option<IdMapping>,
}

/// A complete answer.
pub(super) struct ForwardedAnswer {
    /// The status.
    pub(super) status: StatusCode,
    headers: HeaderMap,
    /// The body.
    pub(super) body: Bytes,
    mapping: Option<IdMapping>,
}

/// The encoding of an answer that the gateway reads.
const PLAIN: HeaderValue = HeaderValue::from_static("identity");

impl<'a> ForwardedRequest<'a> {
    /// The request with its method, path, query, body and headers, without the headers that
    /// `passthrough/headers.rs` removes.
    pub(super) fn new(
        gateway: &'a Arc<Gateway>,
        http: &'a HttpUpstream,
        parts: &Parts,
        body: Bytes,
    ) -> Self {
        let tenant_header = gateway.settings.tenant_header.as_ref();
        // The path without `/v1`: a nested route sees only its part of the path.
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = PassthroughRequest {
            method: parts.method.clone(),
            path: path.to_owned(),
            headers: headers::to_upstream(&parts.headers, http.has_own_key(), tenant_header),
            trace: parts.extensions.get().cloned().unwrap_or_default(),
            body: request_body(body.clone()),
            text: Some(body),
        };
        Self { gateway, http, request, mapping: None }
    }

    /// The same request, with the id by which the upstream knows the conversation.
    pub(super) fn with_mapping(mut self, mapping: Option<IdMapping>) -> Self {
        if let Some(mapping) = &mapping {
            self.request.path = mapping.path(&self.request.path);
            self.request.headers.insert(header::ACCEPT_ENCODING, PLAIN);
        }
        Self { mapping, ..self }
    }

    /// The same request with another body.
    pub(super) fn with_body(mut self, body: Bytes) -> Self {
        self.request.headers.remove(header::CONTENT_LENGTH);
        self.request.body = request_body(body.clone());
        self.request.text = Some(body);
        self
    }

    /// Sends the request and streams the answer.
    pub(super) async fn send_and_stream(
        self,
        permit: Option<TurnPermit>,
    ) -> Result<Response, ApiError> {
        let (gateway, mapping) = (Arc::clone(self.gateway), self.mapping.clone());
        Ok(stream_answer(gateway, self.send().await?.with_mapping(mapping), permit).await)
    }

    /// Sends the request and waits for the whole answer.
    pub(super) async fn send_and_read(mut self) -> Result<ForwardedAnswer, ApiError> {
        // The gateway cannot read a compressed answer.
        self.request.headers.insert(header::ACCEPT_ENCODING, PLAIN);
        let (gateway, limit, mapping) =
            (self.gateway, self.http.max_answer(), self.mapping.clone());
        let passed = self.send().await?;
        let (status, headers) = (passed.status, headers::to_caller(&passed.headers));
        let body = tokio::select! {
            body = passed.whole(limit) => body?,
            () = gateway.closing.cancelled() => return Err(ApiError::StoppedBeforeAnswer),
        };
        Ok(ForwardedAnswer { status, headers, body, mapping })
    }

    async fn send(self) -> Result<PassthroughAnswer, ApiError> {
        tokio::select! {
            answer = self.http.pass_through(self.request, ready(())) => {
                Ok(answer.inspect_err(|error| self.http.log_unanswered(error))?)
            }
            () = self.gateway.closing.cancelled() => Err(ApiError::StoppedBeforeAnswer),
        }
    }
}

impl ForwardedAnswer {
    /// The answer to the caller, with the caller's id of the conversation.
    pub(super) fn into_response(mut self) -> Response {
        if let Some(mapping) = &self.mapping {
            self.headers.remove(header::CONTENT_LENGTH);
            self.body = mapping.answer(&self.body);
        }
        let mut response = Response::new(self.body.into());
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
