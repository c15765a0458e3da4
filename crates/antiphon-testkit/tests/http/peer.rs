//! A plain HTTP client that exposes every chunk.

use antiphon_testkit::FakeUpstream;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

/// A response whose body is read chunk by chunk. Dropping it closes the connection.
pub(crate) struct Reading<B>(Response<B>);

/// The connection broke before the reply or in the middle of its body.
#[derive(Debug)]
pub(crate) struct Broken;

/// Sends `body` to a path below the base URL and waits for the head of the reply.
pub(crate) async fn post(
    upstream: &FakeUpstream,
    path: &str,
    body: impl Into<Bytes>,
) -> Reading<impl BodyExt<Data = Bytes> + Unpin> {
    send(Method::POST, format!("{}{path}", upstream.base_url()), body.into()).await
}

/// Sends `body` to a URL.
pub(crate) async fn post_to(
    url: String,
    body: impl Into<Bytes>,
) -> Reading<impl BodyExt<Data = Bytes> + Unpin> {
    send(Method::POST, url, body.into()).await
}

/// Like [`post_to`], for a request that may get no reply.
pub(crate) async fn try_post(
    upstream: &FakeUpstream,
    path: &str,
    body: impl Into<Bytes>,
) -> Result<(), Broken> {
    let url = format!("{}{path}", upstream.base_url());
    try_send(Method::POST, url, body.into()).await.map(drop)
}

pub(crate) async fn fetch(url: String) -> Reading<impl BodyExt<Data = Bytes> + Unpin> {
    send(Method::GET, url, Bytes::new()).await
}

async fn send(
    method: Method,
    url: String,
    body: Bytes,
) -> Reading<impl BodyExt<Data = Bytes> + Unpin> {
    try_send(method, url, body).await.expect("the upstream responds")
}

async fn try_send(
    method: Method,
    url: String,
    body: Bytes,
) -> Result<Reading<impl BodyExt<Data = Bytes> + Unpin>, Broken> {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header("authorization", "Bearer key-1")
        .header("x-api-key", "key-1")
        .header("anthropic-version", "2023-06-01")
        .body(Full::new(body))
        .expect("the request is well-formed");
    let client = Client::builder(TokioExecutor::new()).build_http();
    client.request(request).await.map(Reading).map_err(|_| Broken)
}

impl<B: BodyExt<Data = Bytes> + Unpin> Reading<B> {
    pub(crate) fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }

    /// The next chunk; `None` at a normal end, an error if the transfer broke.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        let frame = self.0.body_mut().frame().await.transpose().map_err(|_| Broken)?;
        Ok(frame.and_then(|frame| frame.into_data().ok()))
    }

    /// All chunks, and whether the body ended normally.
    pub(crate) async fn chunks(mut self) -> (Vec<Bytes>, bool) {
        let mut chunks = Vec::new();
        loop {
            match self.chunk().await {
                Ok(Some(chunk)) => chunks.push(chunk),
                Ok(None) => return (chunks, true),
                Err(Broken) => return (chunks, false),
            }
        }
    }

    pub(crate) async fn json(self) -> Value {
        let (chunks, _) = self.chunks().await;
        serde_json::from_slice(&chunks.concat()).expect("the body is JSON")
    }
}
