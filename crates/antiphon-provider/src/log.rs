//! What was asked, and what became of it.

use std::collections::VecDeque;

use antiphon_testkit::Refusal;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;

/// A request as it came, its verdict, and what the model was given.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The method.
    pub method: Method,
    /// The path, without the query: `/v1/responses`.
    pub path: String,
    /// The query, without its mark.
    pub query: Option<String>,
    /// The bearer token; empty if there was none.
    pub token: String,
    /// The body, or null where it is not JSON.
    pub body: Value,
    /// How many bytes the body has.
    pub size: usize,
    /// The status that it was answered with.
    pub status: StatusCode,
    /// Whether it was refused, and how.
    pub verdict: Result<(), Refusal>,
    /// What the model was given: what stood before, and then the input, as items. None where no
    /// model was asked.
    pub given: Option<Vec<Value>>,
}

impl Recorded {
    /// Whether it asked for a turn: `POST /v1/responses`.
    pub fn is_turn(&self) -> bool {
        self.method == Method::POST && self.path == "/v1/responses"
    }

    /// The input's items; none where the input is a string.
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// As `GET /log` shows it.
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
            "given": self.given,
            "twice": self.twice().iter().map(ToString::to_string).collect::<Vec<_>>(),
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

/// The latest requests, in the order they came.
#[derive(Debug)]
pub(crate) struct Log {
    requests: watch::Sender<VecDeque<Recorded>>,
    capacity: usize,
}

impl Log {
    /// A log that keeps this many requests: the oldest go first.
    pub(crate) fn of(capacity: usize) -> Self {
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

    /// The request number `index` of those that are kept, once it has come.
    pub(crate) async fn nth(&self, index: usize) -> Recorded {
        let mut requests = self.requests.subscribe();
        let reached = requests.wait_for(|requests| requests.len() > index).await;
        reached.expect("the log holds its own sender")[index].clone()
    }
}
