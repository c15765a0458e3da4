//! The log of received requests.

use std::collections::VecDeque;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Refusal;

/// A request, its verdict and the model's input.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The method.
    pub method: Method,
    /// The path, without the query: `/v1/responses`.
    pub path: String,
    /// The query, without the question mark.
    pub query: Option<String>,
    /// The bearer token; empty if the request had none.
    pub token: String,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The size of the body in bytes.
    pub size: usize,
    /// The status of the reply.
    pub status: StatusCode,
    /// The refusal, if the request was refused.
    pub verdict: Result<(), Refusal>,
    /// The model's input as items: the context, then the request's input. `None` if no model ran.
    pub model_input: Option<Vec<Value>>,
}

impl Recorded {
    /// Whether the request asked for a turn: `POST /v1/responses`.
    pub fn is_turn(&self) -> bool {
        self.method == Method::POST && self.path == "/v1/responses"
    }

    /// The input's items; empty if the input is a string.
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The entry that `GET /log` returns.
    pub(crate) fn as_log_entry(&self) -> Value {
        json!({
            "method": self.method.as_str(),
            "path": self.path,
            "query": self.query,
            "token": self.token,
            "body": self.body,
            "bytes": self.size,
            "status": self.status.as_u16(),
            "refusal": self.refusal(),
            "given": self.model_input,
            "twice": self.duplicates().iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }

    fn refusal(&self) -> Value {
        let Err(refusal) = &self.verdict else {
            return Value::Null;
        };
        let mut error = refusal.body()["error"].take();
        error["status"] = refusal.status.as_u16().into();
        error
    }
}

/// The latest requests, oldest first.
#[derive(Debug)]
pub(crate) struct Log {
    requests: watch::Sender<VecDeque<Recorded>>,
    capacity: usize,
}

impl Log {
    /// A log of the latest `capacity` requests.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { requests: watch::Sender::default(), capacity }
    }

    pub(crate) fn record(&self, request: Recorded) {
        self.requests.send_modify(|requests| {
            requests.push_back(request);
            while requests.len() > self.capacity {
                requests.pop_front();
            }
        });
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.requests.borrow().iter().cloned().collect()
    }

    /// Waits until the log holds more than `index` requests, then returns the one at `index`.
    pub(crate) async fn nth(&self, index: usize) -> Recorded {
        let mut requests = self.requests.subscribe();
        let reached = requests.wait_for(|requests| requests.len() > index).await;
        reached.expect("the log holds its own sender")[index].clone()
    }
}
