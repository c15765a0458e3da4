//! The streamable HTTP transport, over the HTTP client of `antiphon-client`.
//!
//! Source: the MCP specification, "Transports".

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use antiphon_client::{HttpsClient, https_client};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use http::{Method, Request, Response, StatusCode, request};
use http_body_util::{BodyExt, Full, Limited};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Sse, SseStream};

use super::{Endpoint, McpError, Rules};

/// The number of times that a broken stream is opened again before its requests fail.
const RECONNECTS: usize = 3;

/// The time before the first of them; it doubles each time.
const RECONNECT_DELAY: Duration = Duration::from_millis(200);

type Body = hyper::body::Incoming;
type Headers = HashMap<HeaderName, HeaderValue>;
type Error = StreamableHttpError<HttpError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The HTTP client of a transport.
#[derive(Clone)]
pub(super) struct HttpClient(HttpsClient);

/// A request without an answer, or an answer that broke off.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HttpError(String);

/// The end of a stream before its last event.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error(transparent)]
    Connection(#[from] hyper::Error),
    #[error("an event is too long")]
    TooLong,
}

/// The connection to a server. It is opened by the first message.
pub(super) fn connect(
    endpoint: Endpoint,
    rules: &Rules,
) -> Result<StreamableHttpClientTransport<HttpClient>, McpError> {
    let mut headers = Headers::new();
    for (name, value) in endpoint.headers {
        let invalid = || McpError::Header(name.clone());
        let parsed = HeaderName::try_from(&name).map_err(|_| invalid())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(parsed, value);
    }
    let mut retries = ExponentialBackoff::default();
    retries.max_times = Some(RECONNECTS);
    retries.base_duration = RECONNECT_DELAY;
    let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url)
        .custom_headers(headers)
        .max_sse_event_size(rules.max_message)
        .max_json_response_size(rules.max_message);
    config.retry_config = Arc::new(retries);
    config.auth_header = endpoint.key.map(|key| key.reveal().to_owned());
    let client = HttpClient(https_client(rules.timeout));
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

impl HttpClient {
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Body>, Error> {
        let answer = self.0.request(request).await.map_err(|error| client_error(&error))?;
        match challenge(&answer) {
            Some(challenge) => Err(Error::AuthRequired(AuthRequiredError::new(challenge))),
            None => Ok(answer),
        }
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            headers,
            limits,
        )
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let id = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let body = serde_json::to_vec(&message)?;
        let has_session = session_id.is_some();
        let request = request(Method::POST, &uri, session_id.as_deref(), auth_header, headers)
            .header(CONTENT_TYPE, JSON_MIME_TYPE)
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"));
        let answer = self.send(with_body(request, body)?).await?;
        let session_id = text_header(&answer, HEADER_SESSION_ID);
        match answer.status() {
            StatusCode::NOT_FOUND if has_session => Err(Error::SessionExpired),
            status if !status.is_success() => failure(answer, limits, session_id).await,
            _ if id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
            _ if has_type(&answer, EVENT_STREAM_MIME_TYPE) => {
                let events = events(answer, limits.max_sse_event_size, id);
                Ok(StreamableHttpPostResponse::Sse(events, session_id))
            }
            _ => {
                let body = read(answer, limits.max_json_response_size).await?;
                Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&body)?, session_id))
            }
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<(), Error> {
        let request = request(Method::DELETE, &uri, Some(&session_id), auth_header, headers);
        let answer = self.send(with_body(request, Vec::new())?).await?;
        match answer.status() {
            // The server ends sessions itself.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(Error::UnexpectedServerResponse(format!("HTTP {status}").into())),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Result<Events, Error> {
        let limit = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            headers,
            limit,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Result<Events, Error> {
        let mut request = request(Method::GET, &uri, session_id.as_deref(), auth_header, headers)
            .header(ACCEPT, EVENT_STREAM_MIME_TYPE);
        if let Some(id) = last_event_id {
            request = request.header(HEADER_LAST_EVENT_ID, id);
        }
        let answer = self.send(with_body(request, Vec::new())?).await?;
        match answer.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Error::ServerDoesNotSupportSse),
            status if !status.is_success() => {
                Err(Error::UnexpectedServerResponse(format!("HTTP {status}").into()))
            }
            _ if has_type(&answer, EVENT_STREAM_MIME_TYPE) => Ok(events(answer, limit, None)),
            _ => Err(Error::UnexpectedContentType(text_header(&answer, CONTENT_TYPE.as_str()))),
        }
    }
}

/// The head of a request.
fn request(
    method: Method,
    uri: &str,
    session_id: Option<&str>,
    key: Option<String>,
    headers: Headers,
) -> request::Builder {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if let Some(id) = session_id {
        request = request.header(HEADER_SESSION_ID, id);
    }
    match key {
        Some(key) => request.header(AUTHORIZATION, format!("Bearer {key}")),
        None => request,
    }
}

fn with_body(request: request::Builder, body: Vec<u8>) -> Result<Request<Full<Bytes>>, Error> {
    request.body(Full::from(body)).map_err(|error| client_error(&error))
}

fn client_error(error: &dyn std::error::Error) -> Error {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = cause.to_string();
        source = cause.source();
    }
    Error::Client(HttpError(reason))
}

/// The server's demand for a key.
fn challenge(answer: &Response<Body>) -> Option<String> {
    let is_refused = matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    text_header(answer, WWW_AUTHENTICATE.as_str()).filter(|_| is_refused)
}

fn text_header(answer: &Response<Body>, name: &str) -> Option<String> {
    Some(answer.headers().get(name)?.to_str().ok()?.to_owned())
}

fn has_type(answer: &Response<Body>, expected: &str) -> bool {
    let given = text_header(answer, CONTENT_TYPE.as_str()).unwrap_or_default();
    given.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(expected))
}

/// The answer to a request that failed: the server's error, or the beginning of the body.
async fn failure(
    answer: Response<Body>,
    limits: StreamableHttpResponseLimits,
    session_id: Option<String>,
) -> Result<StreamableHttpPostResponse, Error> {
    let status = answer.status();
    let body = read(answer, limits.max_error_response_size).await.unwrap_or_default();
    if let Ok(error @ ServerJsonRpcMessage::Error(_)) = serde_json::from_slice(&body) {
        return Ok(StreamableHttpPostResponse::Json(error, session_id));
    }
    let text = String::from_utf8_lossy(&body);
    Err(Error::UnexpectedServerResponse(format!("HTTP {status}: {text}").into()))
}

/// Reads a body that is not longer than the limit.
async fn read(answer: Response<Body>, limit: usize) -> Result<Bytes, Error> {
    let body = Limited::new(answer.into_body(), limit).collect().await;
    match body {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Error::ResponseBodyTooLarge { max_size: limit })
        }
        Err(error) => Err(client_error(&*error)),
    }
}

/// The events of a stream. In place of an event that is longer than the limit, the request `id`
/// gets an error. The stream does not end then: `rmcp` would ask for the event again.
fn events(answer: Response<Body>, limit: usize, id: Option<RequestId>) -> Events {
    let chunks = bounded(answer.into_body().into_data_stream(), limit);
    let events = SseStream::from_bytes_stream(chunks).flat_map(move |event| match event {
        Err(SseError::Body(error)) if is_too_long(&*error) => {
            let last = id.clone().map(|id| Ok(too_long(id, limit)));
            stream::iter(last).chain(stream::pending()).left_stream()
        }
        event => stream::iter([event]).right_stream(),
    });
    events.boxed()
}

fn is_too_long(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(StreamError::TooLong))
}

/// The error of a request whose answer is too long.
fn too_long(id: RequestId, limit: usize) -> Sse {
    let text =
        format!("The answer is longer than {limit} bytes. The call may have had its effect.");
    let error = ServerJsonRpcMessage::error(ErrorData::internal_error(text, None), Some(id));
    let data = serde_json::to_string(&error).expect("a message can be written as JSON");
    Sse { data: Some(data), ..Sse::default() }
}

/// Fails at an event that is longer than the limit. An event ends with an empty line.
fn bounded(
    chunks: impl Stream<Item = Result<Bytes, hyper::Error>>,
    limit: usize,
) -> impl Stream<Item = Result<Bytes, StreamError>> {
    let (mut size, mut line) = (0_usize, 0_usize);
    chunks.map(move |chunk| {
        let chunk = chunk?;
        for byte in &chunk {
            match byte {
                b'\n' if line == 0 => size = 0,
                b'\n' => line = 0,
                b'\r' => {}
                _ => (size, line) = (size + 1, line + 1),
            }
            if size > limit {
                return Err(StreamError::TooLong);
            }
        }
        Ok(chunk)
    })
}
