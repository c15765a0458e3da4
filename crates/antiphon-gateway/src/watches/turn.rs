//! The turn of a watched response.

use antiphon_store::{Notice, Tenant, WATCH_ENDPOINT};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use tracing::Span;

use super::{CLAIM, FIRST_PAUSE, LONGEST};
use crate::caller::Caller;
use crate::request::{Continues, CreateRequest};
use crate::request_id::RequestId;
use crate::span::TraceSpan;
use crate::trace::{self, shortened};
use crate::upstream::HttpUpstream;

/// The data for polling the response and for logging its end. It contains no token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WatchedTurn {
    /// When the response was created, in Unix seconds.
    created_at: i64,
    /// The base URL of the upstream.
    pub(crate) upstream: String,
    /// Whether the upstream receives the caller's own token.
    needs_token: bool,
    request_id: String,
    model: String,
    /// The upstream's id of the conversation.
    conversation: Option<String>,
    /// The number of items that the caller sent.
    pub(crate) input_items: usize,
    /// The provider's headers, forwarded unchanged.
    headers: Vec<(String, String)>,
}

impl WatchedTurn {
    /// The turn of a response that was created at this time, in Unix seconds.
    pub(crate) fn new(
        http: &HttpUpstream,
        caller: &Caller,
        request: &CreateRequest,
        created_at: i64,
    ) -> Self {
        let headers = caller.headers.iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let conversation = match &request.continues {
            Continues::Conversation(id) => Some(id.clone()),
            Continues::Nothing | Continues::Response(_) => None,
        };
        Self {
            created_at,
            upstream: http.base().to_owned(),
            needs_token: !http.has_own_key() && caller.token.is_some(),
            request_id: caller.request_id.to_string(),
            model: shortened(&request.model, trace::MAX_TEXT).to_owned(),
            conversation,
            input_items: request.input.len(),
            headers: headers.collect(),
        }
    }

    /// Reads the body of a watch.
    pub(crate) fn read(body: &Bytes) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// The watch of a response, by its id at the upstream. While one process may poll it from
    /// memory, no other process claims it.
    pub(crate) fn notice(&self, response: &str) -> Notice {
        let pause = if self.needs_token { LONGEST + 2 * CLAIM } else { FIRST_PAUSE };
        Notice {
            id: response.to_owned(),
            endpoint: WATCH_ENDPOINT.to_owned(),
            due_at: self.created_at.saturating_add(pause),
            body: serde_json::to_vec(self).expect("it is plain data").into(),
        }
    }

    /// The name of the model, as in log lines.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.needs_token
    }

    /// Whether the watch ends at `now`, in Unix seconds, even if the response is still running.
    pub(crate) fn is_over(&self, now: i64) -> bool {
        now >= self.created_at.saturating_add(LONGEST)
    }

    /// The caller of the turn, without a token.
    pub(crate) fn caller(&self, tenant: &Tenant) -> Caller {
        let header = |(name, value): &(String, String)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        };
        let headers: HeaderMap = self.headers.iter().filter_map(header).collect();
        let request_id = RequestId::parse(&self.request_id).unwrap_or_else(RequestId::issue);
        Caller {
            tenant: tenant.clone(),
            token: None,
            request_id,
            headers,
            trace: TraceSpan::default(),
        }
    }

    /// The span of the watch's log lines, with the ids of the request that created the response.
    pub(crate) fn span(&self, caller: &Caller, upstream: Option<&HttpUpstream>) -> Span {
        let span = trace::request_span(&caller.request_id);
        span.record("tenant", caller.tenant.as_str());
        span.record("model", &*self.model);
        trace::record_conversation(&span, self.conversation.as_deref());
        if let Some(upstream) = upstream {
            span.record("upstream", upstream.label());
        }
        span
    }
}
