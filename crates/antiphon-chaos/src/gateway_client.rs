//! Requests to a gateway that may die at any moment.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The reason why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The connection was refused or broke.
    Broken,
    /// The gateway sent nothing for too long.
    TimedOut,
}

/// The time limit for each read.
const TIMEOUT: Duration = Duration::from_secs(30);

type Result<T> = std::result::Result<T, NoAnswer>;

/// A client for one gateway. Every request uses its own connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatewayClient(pub(crate) SocketAddr);

/// An additional header of a request.
pub(crate) type Header = (&'static str, String);

impl GatewayClient {
    /// Sends a request and returns the status and the body of the answer.
    pub(crate) async fn call(
        self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, Value)> {
        self.send(method, path, body, &[]).await?.read_json().await
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn send(
        self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[Header],
    ) -> Result<Answer> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.0.to_string())
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).expect("the request is valid");
        in_time(self.send_request(request)).await
    }

    async fn send_request(self, request: Request<Full<Bytes>>) -> Result<Answer> {
        let stream = TcpStream::connect(self.0).await.map_err(|_| NoAnswer::Broken)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|_| NoAnswer::Broken)?;
        tokio::spawn(connection);
        let answer = sender.send_request(request).await.map_err(|_| NoAnswer::Broken)?;
        let (head, body) = answer.into_parts();
        Ok(Answer { status: head.status, body, pending: BytesMut::new() })
    }
}

/// An answer in transit. Dropping it before its end closes the connection.
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: StatusCode,
    body: Incoming,
    pending: BytesMut,
}

impl Answer {
    /// Reads the whole body as JSON.
    pub(crate) async fn read_json(self) -> Result<(StatusCode, Value)> {
        let body =
            in_time(async { self.body.collect().await.map_err(|_| NoAnswer::Broken) }).await?;
        let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        Ok((self.status, body))
    }

    /// Reads the next event of a stream; `None` at its end or at `[DONE]`.
    pub(crate) async fn next_event(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(end) = self.pending.windows(2).position(|two| two == b"\n\n") {
                let event = self.pending.split_to(end + 2);
                return Ok(data(&event));
            }
            match in_time(async { Ok(self.body.frame().await) }).await? {
                Some(Ok(frame)) => self.pending.extend(frame.into_data().unwrap_or_default()),
                Some(Err(_)) => return Err(NoAnswer::Broken),
                None => return Ok(None),
            }
        }
    }
}

fn data(event: &[u8]) -> Option<Value> {
    let data = event.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"data: "))?;
    serde_json::from_slice(data).ok()
}

async fn in_time<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    timeout(TIMEOUT, future).await.unwrap_or(Err(NoAnswer::TimedOut))
}
