//! The recorded requests and their verdicts.

use antiphon_mock::{Api, Refusal, default_model};
use bytes::Bytes;
use http::{HeaderMap, Method, header};
use serde_json::{Value, json};
use tokio::sync::watch;

/// A request as received.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The method.
    pub method: Method,
    /// The path, without the query: `/v1/responses`.
    pub path: String,
    /// The query, without the question mark.
    pub query: Option<String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub raw: Bytes,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The judge's verdict. Requests to other paths than an [`Api`]'s are not judged and pass.
    pub verdict: Result<(), Refusal>,
}

impl Recorded {
    /// The `Authorization` header.
    pub fn authorization(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()
    }

    /// The input's items; empty if the input is a string.
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The requested API; `None` for other paths and methods.
    pub fn api(&self) -> Option<Api> {
        Api::at(&self.path).filter(|_| self.method == Method::POST)
    }

    /// The messages; empty for the Responses API.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The model's input as items, for every API.
    pub fn items(&self) -> Vec<Value> {
        let input = self.as_read()["input"].take();
        match input {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            text => vec![json!({"role": "user", "content": text})],
        }
    }

    fn as_read(&self) -> Value {
        self.api().map_or_else(
            || self.body.clone(),
            |api| default_model::normalize(api, &self.body).into_owned(),
        )
    }

    /// The bearer token, or Anthropic's key.
    fn token(&self) -> Option<&str> {
        let bearer = self.authorization().and_then(|value| value.strip_prefix("Bearer "));
        bearer.or_else(|| self.headers.get("x-api-key")?.to_str().ok())
    }

    pub(super) fn has_token(&self, token: &str) -> bool {
        self.token() == Some(token)
    }

    /// The entry that `GET /log` returns: `{authorization, token, traceparent, body, refusal}`. The
    /// refusal is null if there is none, and the body is in the form that the model
    /// [reads](default_model::normalize).
    pub(super) fn as_log_entry(&self) -> Value {
        let refusal = self.verdict.as_ref().err().map(|refusal| {
            let mut error = refusal.body()["error"].take();
            error["status"] = refusal.status.as_u16().into();
            error
        });
        let traceparent = self.headers.get("traceparent").and_then(|it| it.to_str().ok());
        json!({
            "authorization": self.authorization(),
            "token": self.token(),
            "traceparent": traceparent,
            "body": self.as_read(),
            "refusal": refusal,
        })
    }
}

/// All requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct Log(watch::Sender<Vec<Recorded>>);

impl Log {
    pub(super) fn record(&self, request: Recorded) {
        self.0.send_modify(|requests| requests.push(request));
    }

    pub(super) fn all(&self) -> Vec<Recorded> {
        self.0.borrow().clone()
    }

    pub(super) async fn nth(&self, index: usize) -> Recorded {
        let mut requests = self.0.subscribe();
        let requests = requests
            .wait_for(|requests| requests.len() > index)
            .await
            .expect("the log holds its own sender");
        requests[index].clone()
    }
}
