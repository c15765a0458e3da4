//! The upstreams: the local model, and servers over HTTP.

mod api;
mod body;
mod body_kind;
mod client;
mod connection;
mod connector;
mod context_length;
mod error;
mod error_type;
mod http;
mod lock;
mod missing_path;
mod model_list;
mod own_key;
mod passthrough;
mod pool;
mod provider_name;
mod rejection_log;
mod retry_session;
mod timeouts;
mod token_count;
mod words;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use antiphon::Origin;
use antiphon::dialect::{UpstreamApi, Vendor};
use antiphon::json::Object;
use antiphon::stream::ReasoningForm;
use tokio::time::Instant;

pub(crate) use self::body::{ByteStream, Reply};
pub use self::client::{StreamedAnswer, UpstreamClient};
pub(crate) use self::context_length::{Overflow, TooLong};
pub(crate) use self::error::{StateError, UpstreamError};
pub(crate) use self::error_type::failure_type;
pub(crate) use self::http::{HttpUpstream, RequestBody, request_body};
pub(crate) use self::lock::LockWait;
pub use self::model_list::ModelList;
pub(crate) use self::passthrough::{PassthroughAnswer, PassthroughRequest};
use self::provider_name::provider_name;
pub(crate) use self::rejection_log::{known_code, known_path};
pub(crate) use self::retry_session::RetrySession;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::metrics::UpstreamMetrics;
use crate::settings::{LocalModel, Retries, Settings};
use crate::trace::{Provider, SentBy};

/// All upstreams of a gateway.
pub(crate) struct Upstreams {
    /// The model without a server.
    local: Option<LocalModel>,
    /// In order: the first one that matches a model's name serves it.
    http: Vec<HttpUpstream>,
    /// Whether the store contained a ledger of upstream state when the gateway started.
    pub(crate) has_ledgers: bool,
    /// Origins that reject encrypted reasoning.
    pub(crate) without_encryption: Origins,
    /// Origins that reject tool calls without the reasoning that belongs to them.
    pub(crate) requiring_reasoning: Origins,
    /// Origins without `/responses/compact`.
    pub(crate) without_compact_path: Origins,
    /// Origins that do not compact the history of a request themselves.
    pub(crate) without_compaction: Origins,
    /// Origins that do not count tokens.
    pub(crate) without_token_counts: Origins,
}

/// A set of origins with a known property.
#[derive(Default)]
pub(crate) struct Origins(Mutex<HashSet<Origin>>);

/// The maximum size of the set, because callers can invent any number of model names. A full set is
/// cleared before the next origin is added.
const MAX_ORIGINS: usize = 1024;

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// A stream of events.
    Events,
    /// One response object.
    Whole,
}

/// The upstream that serves a model.
#[derive(Clone, Copy)]
pub(crate) enum Upstream<'a> {
    /// The model without a server.
    Local(&'a LocalModel),
    /// A server.
    Http(&'a HttpUpstream),
}

impl Upstreams {
    /// Creates the upstreams of the settings.
    ///
    /// `has_ledgers`: whether the store contains a ledger of upstream state.
    pub(crate) fn new(settings: &Settings, has_ledgers: bool, metrics: &UpstreamMetrics) -> Self {
        let new = |upstream| HttpUpstream::new(upstream, metrics);
        Self {
            has_ledgers,
            local: settings.local_model,
            http: settings.upstreams.iter().map(new).collect(),
            without_encryption: Origins::default(),
            requiring_reasoning: Origins::default(),
            without_compact_path: Origins::default(),
            without_compaction: Origins::default(),
            without_token_counts: Origins::default(),
        }
    }

    /// All HTTP upstreams.
    pub(crate) fn http(&self) -> &[HttpUpstream] {
        &self.http
    }

    /// The HTTP upstream with this configured name.
    pub(crate) fn named(&self, name: &str) -> Option<&HttpUpstream> {
        self.http.iter().find(|http| http.public_name() == Some(name))
    }

    /// The model without a server.
    pub(crate) fn local(&self) -> Option<&LocalModel> {
        self.local.as_ref()
    }

    /// The upstream that serves `model`. The local model precedes all servers.
    pub(crate) fn for_model(&self, model: &str) -> Option<Upstream<'_>> {
        let local = self.local().filter(|local| local.name == model).map(Upstream::Local);
        let served = || self.http.iter().find(|upstream| upstream.serves(model));
        local.or_else(|| served().map(Upstream::Http))
    }

    /// The upstream of an origin.
    pub(crate) fn for_origin(&self, origin: &Origin) -> Option<Upstream<'_>> {
        let local = self.local().filter(|local| local.name == origin.as_str());
        let is_its = |http: &&HttpUpstream| {
            let model = origin.as_str().strip_prefix(http.name());
            model.is_some_and(|model| model.starts_with(' '))
        };
        let server = || self.http.iter().find(is_its).map(Upstream::Http);
        local.map(Upstream::Local).or_else(server)
    }

    /// The server for requests to other parts of an API that name no model. Among the servers that
    /// follow this vendor, one that serves all models comes first, then the first one; without any,
    /// the first of all servers.
    pub(crate) fn for_vendor(&self, vendor: Vendor) -> Option<&HttpUpstream> {
        let speaks = |http: &&HttpUpstream| http.api().vendor() == vendor;
        let mut speaking = self.http.iter().filter(speaks);
        let general = speaking.clone().find(|http| http.serves_all());
        general.or_else(|| speaking.next()).or_else(|| self.http.first())
    }

    /// The models that the HTTP upstreams list and serve, in the form of the Models API. An
    /// upstream whose list fails is skipped.
    pub(crate) async fn models(&self, caller: &Caller) -> Vec<String> {
        let lists = self.http.iter().map(|upstream| upstream.models(caller));
        let lists = futures_util::future::join_all(lists).await;
        let mut models = Vec::new();
        for (position, list) in lists.into_iter().enumerate() {
            let list = list.unwrap_or_else(|error| {
                let upstream = self.http[position].label();
                tracing::warn!(
                    upstream, %error,
                    "could not list the models of an upstream; /v1/models answers without them"
                );
                Vec::new()
            });
            let is_first_to_serve = |model: &api::Model| {
                let first = self.http.iter().position(|upstream| upstream.serves(&model.id));
                first == Some(position)
            };
            models.extend(list.into_iter().filter(is_first_to_serve).map(|model| model.json));
        }
        models
    }
}

impl Origins {
    /// Whether the set contains this origin.
    pub(crate) fn contains(&self, origin: &Origin) -> bool {
        self.lock().contains(origin)
    }

    /// Adds this origin.
    pub(crate) fn insert(&self, origin: &Origin) {
        let mut origins = self.lock();
        if origins.len() >= MAX_ORIGINS {
            origins.clear();
        }
        origins.insert(origin.clone());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<Origin>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl<'a> Upstream<'a> {
    /// The name in logs.
    pub(crate) fn label(self) -> &'a str {
        match self {
            Self::Local(local) => local.name,
            Self::Http(http) => http.label(),
        }
    }

    /// The party that answers, for spans.
    pub(crate) fn provider(self) -> Provider<'a> {
        let (name, url) = match self {
            Self::Local(_) => ("antiphon", None),
            Self::Http(http) => (provider_name(http.url(), http.api()), Some(http.url())),
        };
        Provider { name, upstream: self.label(), url }
    }
}

impl Upstream<'_> {
    /// The API of this upstream.
    pub(crate) fn api(self) -> UpstreamApi {
        match self {
            Self::Local(_) => UpstreamApi::Responses,
            Self::Http(http) => http.api(),
        }
    }

    /// Whether it is a server with the Responses API, which may support all of that API.
    pub(crate) fn is_responses_server(self) -> bool {
        matches!(self, Self::Http(http) if http.api() == UpstreamApi::Responses)
    }

    /// The origin of the items that this upstream's `model` produces.
    pub(crate) fn origin(self, model: &str) -> Origin {
        match self {
            Self::Local(local) => Origin::new(local.name),
            Self::Http(http) => Origin::new(format!("{} {model}", http.name())),
        }
    }

    /// The context window of its models, input and output together, in tokens, if known.
    pub(crate) fn context_window(self) -> Option<u64> {
        match self {
            Self::Local(local) => Some(local.context_window),
            Self::Http(http) => http.context_window(),
        }
    }

    /// The form of its reasoning for the client of this request.
    pub(crate) fn reasoning_form(self, request: &Object<'_>) -> ReasoningForm {
        match self {
            Self::Local(_) => ReasoningForm::default(),
            Self::Http(http) => http.reasoning().for_request(request),
        }
    }

    /// Whether this upstream receives the token of the caller.
    pub(crate) fn receives_tokens(self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Http(http) => http.receives_tokens(),
        }
    }

    /// Counts a failed request.
    fn count_error(self, error: &UpstreamError) {
        if let Self::Http(http) = self {
            http.counters.count_error(&error.kind());
        }
    }

    /// Counts and logs an answer that failed after it had begun.
    pub(crate) fn report_broken(self, error: &UpstreamError) {
        self.count_error(error);
        tracing::info!(error = &*error.kind(), "the upstream's answer failed");
    }

    /// Counts a request that is sent again.
    fn count_retry(self) {
        if let Self::Http(http) = self {
            http.counters.count_retry();
        }
    }

    /// The maximum size of one event of an answer, in bytes.
    pub(crate) fn max_event(self) -> usize {
        match self {
            Self::Local(_) => usize::MAX,
            Self::Http(http) => http.max_answer(),
        }
    }

    /// The retry settings, and the total time limit of an answer.
    fn retry_settings(self) -> (Retries, Duration) {
        match self {
            Self::Local(_) => (Retries::none(), Duration::ZERO),
            Self::Http(http) => http.retry_settings(),
        }
    }

    /// The form to ask for. Only a caller that streams sees events before the answer is complete.
    pub(crate) fn answer_form(self, caller_streams: bool) -> AnswerForm {
        match self {
            Self::Http(http) if !caller_streams && !http.always_streams() => AnswerForm::Whole,
            _ => AnswerForm::Events,
        }
    }

    /// Sends a request body that asks for this form. The reply is complete before `end`.
    async fn send(
        self,
        model: &str,
        (body, form): (Chunks, AnswerForm),
        (caller, cause): (&Caller, SentBy<'_>),
        end: Instant,
    ) -> Result<Reply, UpstreamError> {
        match self {
            Self::Local(local) => (local.respond)(&body.to_bytes())
                .map(|events| Reply::Events(ByteStream::Local(events)))
                .map_err(|message| UpstreamError::invalid(&message)),
            Self::Http(http) => http.respond(model, (body, form), (caller, cause), end).await,
        }
    }
}
