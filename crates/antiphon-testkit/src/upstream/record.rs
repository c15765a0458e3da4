//! What was asked, and what the judge thought of it.

use bytes::Bytes;
use http::{HeaderMap, header};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::Refusal;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path, without the query: `/v1/responses`.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub raw: Bytes,
    /// The body, or null where it is not JSON.
    pub body: Value,
    /// The judge's verdict. Paths other than `/v1/responses` are not judged, and pass.
    pub verdict: Result<(), Refusal>,
}

impl Recorded {
    /// The `Authorization` header.
    pub fn authorization(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()
    }

    /// The input's items; none where the input is a string.
    pub fn input(&self) -> &[Value] {
        self.body["input"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn has_token(&self, token: &str) -> bool {
        self.authorization().and_then(|value| value.strip_prefix("Bearer ")) == Some(token)
    }

    /// As `GET /log` shows it: `{authorization, body, refusal}`, the refusal null if there is none.
    pub(super) fn as_log_entry(&self) -> Value {
        let refusal = self.verdict.as_ref().err().map(|refusal| {
            let mut error = refusal.body()["error"].take();
            error["status"] = refusal.status.as_u16().into();
            error
        });
        json!({"authorization": self.authorization(), "body": self.body, "refusal": refusal})
    }
}

/// All requests, in the order they came.
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
