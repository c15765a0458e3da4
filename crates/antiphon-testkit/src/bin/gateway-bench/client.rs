//! The HTTP client of the load.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::time::timeout;

use crate::marker::Marker;

/// A client of one server. It reuses its connections.
#[derive(Clone)]
pub(crate) struct Client {
    http: HttpClient<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) response_id: String,
    /// The number in the mark of the model's item.
    pub(crate) answer: u64,
    /// The JSON of the output items, separated by commas.
    pub(crate) output: String,
    /// The call that the output ends with, if it does.
    pub(crate) call_id: Option<String>,
    /// From the start of the request to the terminal event.
    pub(crate) took: Duration,
}

/// The time limit of each request, far above the expected time.
const TIMEOUT: Duration = Duration::from_mins(1);
const TERMINAL: &[u8] = b"response.completed";

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let mut http = HttpClient::builder(TokioExecutor::new());
        http.pool_idle_timeout(Duration::from_secs(20));
        Self { http: http.build(connector), address }
    }

    /// Posts JSON and returns the JSON of the answer, which must have status 200.
    pub(crate) async fn post(&self, path: &str, body: String) -> anyhow::Result<Value> {
        let response = self.send(Method::POST, path, body).await?;
        let bytes = timeout(TIMEOUT, response.into_body().collect()).await??.to_bytes();
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Posts a request for a response and reads the answer to its end.
    pub(crate) async fn respond(&self, body: String) -> anyhow::Result<Reply> {
        timeout(TIMEOUT, self.open(body).await?.read_to_end()).await?
    }

    /// Posts a request of another API and reads the answer, which must contain `end` and the mark
    /// of one answer. Returns its time.
    pub(crate) async fn exchange(
        &self,
        path: &str,
        body: String,
        end: &str,
    ) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let response = self.send(Method::POST, path, body).await?;
        let answer = timeout(TIMEOUT, response.into_body().collect()).await??.to_bytes();
        let is_whole = memchr::memmem::find(&answer, end.as_bytes()).is_some();
        let marks = Marker::all_in(&answer).count();
        ensure!(is_whole && marks == 1, "the answer has {} bytes and {marks} marks", answer.len());
        Ok(started.elapsed())
    }

    /// Posts a request for a response, and returns when the head of the answer has come.
    pub(crate) async fn open(&self, body: String) -> anyhow::Result<OpenReply> {
        let started = Instant::now();
        let response = self.send(Method::POST, "/v1/responses", body).await?;
        let kind = response.headers().get("content-type");
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        Ok(OpenReply { body: response.into_body(), received: Vec::new(), is_stream, started })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: String,
    ) -> anyhow::Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .header("authorization", "Bearer sk-bench")
            .header("content-type", "application/json")
            .body(Full::from(body))?;
        let response = timeout(TIMEOUT, self.http.request(request)).await??;
        let status = response.status();
        if status != StatusCode::OK {
            let bytes = response.into_body().collect().await?.to_bytes();
            bail!("{path}: {status}: {}", String::from_utf8_lossy(&bytes));
        }
        Ok(response)
    }
}

/// An answer whose body is still coming. Dropping it closes the connection.
pub(crate) struct OpenReply {
    body: Incoming,
    received: Vec<u8>,
    is_stream: bool,
    started: Instant,
}

impl OpenReply {
    /// Reads until `received` satisfies the condition. Fails if the body ends before.
    pub(crate) async fn read_until(
        &mut self,
        is_enough: impl Fn(&[u8]) -> bool,
    ) -> anyhow::Result<()> {
        while !is_enough(&self.received) {
            ensure!(self.read_more().await?, "the stream ended early");
        }
        Ok(())
    }

    /// Reads until the terminal event has come, and nothing after it.
    pub(crate) async fn read_to_terminal(&mut self) -> anyhow::Result<Reply> {
        let mut searched = 0;
        loop {
            let unseen = &self.received[searched..];
            if memchr::memmem::find(unseen, TERMINAL).is_some() && self.received.ends_with(b"\n\n")
            {
                return self.reply(self.started.elapsed());
            }
            if memchr::memmem::find(unseen, TERMINAL).is_none() {
                searched = self.received.len().saturating_sub(TERMINAL.len());
            }
            ensure!(self.read_more().await?, "the stream ended without {TERMINAL:?}");
        }
    }

    async fn read_to_end(mut self) -> anyhow::Result<Reply> {
        if self.is_stream {
            let reply = self.read_to_terminal().await?;
            while self.read_more().await? {}
            return Ok(reply);
        }
        while self.read_more().await? {}
        self.reply(self.started.elapsed())
    }

    async fn read_more(&mut self) -> anyhow::Result<bool> {
        let Some(frame) = self.body.frame().await else { return Ok(false) };
        if let Some(data) = frame?.data_ref() {
            self.received.extend_from_slice(data);
        }
        Ok(true)
    }

    fn reply(&self, took: Duration) -> anyhow::Result<Reply> {
        let received = &self.received;
        let response = match self.is_stream {
            true => terminal_response(received)?,
            false => serde_json::from_slice(received)?,
        };
        Reply::new(&response, took)
    }
}

/// The response in the terminal event of a stream.
fn terminal_response(stream: &[u8]) -> anyhow::Result<Value> {
    let at = memchr::memmem::rfind(stream, b"\ndata: {").context("no event has data")?;
    let data = stream[at + b"\ndata: ".len()..].split(|&byte| byte == b'\n').next();
    let mut event: Value = serde_json::from_slice(data.unwrap_or_default())?;
    ensure!(event["type"] == "response.completed", "the stream ends with {event}");
    Ok(event["response"].take())
}

impl Reply {
    fn new(response: &Value, took: Duration) -> anyhow::Result<Self> {
        let output = response["output"].as_array().context("there is no output")?;
        let texts: Vec<String> = output.iter().map(Value::to_string).collect();
        let output_text = texts.join(",");
        let marks: Vec<Marker> = Marker::all_in(output_text.as_bytes()).collect();
        let [Marker::Answer(answer)] = marks[..] else { bail!("the output has {marks:?}") };
        let call_id = output.last().and_then(|item| item["call_id"].as_str());
        let id = response["id"].as_str().context("the response has no id")?;
        Ok(Self {
            response_id: id.to_owned(),
            answer,
            output: output_text,
            call_id: call_id.map(str::to_owned),
            took,
        })
    }
}
