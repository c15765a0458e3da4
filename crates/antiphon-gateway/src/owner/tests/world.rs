//! The test environment: one provider and one caller.

use antiphon::dialect::Vendor;
use std::time::Duration;

use antiphon_mock::Reply;
use antiphon_store::Tenant;
use antiphon_testkit::{FakeUpstream, Recorded};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::metrics::UpstreamMetrics;
use crate::request_id::RequestId;
use crate::settings::{Secret, Settings, State, UpstreamSettings};
use crate::span::TraceSpan;
use crate::upstream::{HttpUpstream, Upstreams};

/// A provider with scripted answers.
pub(in crate::owner) struct World {
    pub(in crate::owner) upstream: FakeUpstream,
    pub(in crate::owner) upstreams: Upstreams,
    pub(in crate::owner) caller: Caller,
}

impl World {
    pub(in crate::owner) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Creates the environment with changed settings.
    pub(in crate::owner) async fn with(change: impl FnOnce(&mut UpstreamSettings)) -> Self {
        Self::with_entries(|mut kept| {
            change(&mut kept);
            vec![kept]
        })
        .await
    }

    /// Creates the environment with several configured upstreams for the one provider.
    pub(in crate::owner) async fn with_entries(
        entries: impl FnOnce(UpstreamSettings) -> Vec<UpstreamSettings>,
    ) -> Self {
        let upstream = FakeUpstream::start().await;
        let url = upstream.base_url().parse().expect("it is a URL");
        let mut kept = UpstreamSettings::new(url, None);
        kept.state = State::Upstream;
        kept.retries.first_delay = Duration::ZERO;
        let settings = Settings { upstreams: entries(kept), ..Settings::default() };
        let caller = Caller {
            tenant: Tenant::new("alice"),
            token: Some(Secret::new("token-of-alice")),
            request_id: RequestId::issue(),
            headers: HeaderMap::new(),
            trace: TraceSpan::default(),
        };
        Self {
            upstream,
            upstreams: Upstreams::new(&settings, false, &UpstreamMetrics::unread()),
            caller,
        }
    }

    pub(in crate::owner) fn http(&self) -> &HttpUpstream {
        self.upstreams.for_vendor(Vendor::OpenAi).expect("there is one")
    }

    pub(in crate::owner) fn says(&self, body: &Value) {
        self.upstream.script(Reply::json(StatusCode::OK, body));
    }

    pub(in crate::owner) fn refuses(&self, status: StatusCode, message: &str) {
        self.upstream.script(refusal(status, message));
    }

    /// The requests so far: method, path and query.
    pub(in crate::owner) fn asked(&self) -> Vec<String> {
        let line = |it: Recorded| {
            let query = it.query.map(|query| format!("?{query}")).unwrap_or_default();
            format!("{} {}{query}", it.method, it.path)
        };
        self.upstream.requests().into_iter().map(line).collect()
    }
}

pub(in crate::owner) fn refusal(status: StatusCode, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message}}))
}
