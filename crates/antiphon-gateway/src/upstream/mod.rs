//! Where models are: the built-in one, and HTTP upstreams.

mod api;
mod asking;
mod body;
mod connection;
mod connector;
mod context_length;
mod error;
mod findings;
mod http;
mod lock;
mod missing;
mod models;
mod own_key;
mod passing;
mod patience;
mod refusal_log;
mod retry_after;
mod sniffed;
mod state_error;
mod token_count;
mod words;

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use antiphon::Origin;
use antiphon::dialect::Dialect;
use tokio::time::Instant;

pub(crate) use self::asking::Asking;
pub(crate) use self::body::{ByteStream, Reply};
pub(crate) use self::context_length::{Overflow, TooLong};
pub(crate) use self::error::UpstreamError;
pub(crate) use self::http::{HttpUpstream, RequestBody, whole};
pub(crate) use self::lock::LockWait;
pub(crate) use self::passing::{Foreign, Passed};
pub(crate) use self::refusal_log::{known_code, known_path};
pub(crate) use self::retry_after::retry_after;
pub(crate) use self::state_error::StateError;
use crate::caller::Caller;
use crate::chunks::Chunks;
use crate::settings::{Retries, Settings};
use crate::sim::{self, SIM};

/// How many tokens it takes. It has no window of its own: this is that of large models.
const SIM_WINDOW: u64 = 1_000_000;

/// All upstreams of a gateway.
pub(crate) struct Upstreams {
    /// The first that takes a model's name answers for it.
    http: Vec<HttpUpstream>,
    /// Whether there was a ledger of anything that one of them keeps when the gateway started.
    pub(crate) kept: bool,
    /// Those known to refuse encrypted reasoning.
    pub(crate) without_encryption: Origins,
    /// Those known to refuse calls without the reasoning that they were made with.
    pub(crate) wanting_reasoning: Origins,
    /// Those known to have no `/responses/compact`.
    pub(crate) without_compact_path: Origins,
    /// Those known not to compact the history of a request by themselves.
    pub(crate) without_compaction: Origins,
    /// Those known not to count tokens.
    pub(crate) without_token_counts: Origins,
}

/// Origins that are known for something.
#[derive(Default)]
pub(crate) struct Origins(Mutex<HashSet<Origin>>);

/// How many origins are remembered; a caller may invent model names without end.
const REMEMBERED: usize = 1024;

/// The upstream that answers for a model.
#[derive(Clone, Copy)]
pub(crate) enum Upstream<'a> {
    /// The built-in model.
    Sim,
    /// A server.
    Http(&'a HttpUpstream),
}

impl Upstreams {
    /// The upstreams that the settings name.
    ///
    /// `kept`: whether there is a ledger of anything that one of them keeps.
    pub(crate) fn new(settings: &Settings, kept: bool) -> Self {
        Self {
            kept,
            http: settings.upstreams.iter().map(HttpUpstream::new).collect(),
            without_encryption: Origins::default(),
            wanting_reasoning: Origins::default(),
            without_compact_path: Origins::default(),
            without_compaction: Origins::default(),
            without_token_counts: Origins::default(),
        }
    }

    /// All servers.
    pub(crate) fn all(&self) -> &[HttpUpstream] {
        &self.http
    }

    /// The server that the operator gave this name.
    pub(crate) fn named(&self, name: &str) -> Option<&HttpUpstream> {
        self.http.iter().find(|http| http.public_name() == Some(name))
    }

    /// Who answers for `model`: a model named `sim` is the built-in one, wherever others are.
    pub(crate) fn of_model(&self, model: &str) -> Option<Upstream<'_>> {
        if model == SIM {
            return Some(Upstream::Sim);
        }
        self.http.iter().find(|upstream| upstream.takes(model)).map(Upstream::Http)
    }

    /// The server that takes requests of an API's other parts which name no model: of those that
    /// speak that API one that answers for all models, else the first; else the first of all.
    pub(crate) fn of_api(&self, anthropic: bool) -> Option<&HttpUpstream> {
        let speaks = |http: &&HttpUpstream| (http.api() == Dialect::Anthropic) == anthropic;
        let mut speaking = self.http.iter().filter(speaks);
        let general = speaking.clone().find(|http| http.takes_all());
        general.or_else(|| speaking.next()).or_else(|| self.http.first())
    }

    /// The models that the HTTP upstreams list and answer for, as the Models API has them. One that
    /// lists nothing is passed over.
    pub(crate) async fn models(&self, caller: &Caller) -> Vec<String> {
        let lists = self.http.iter().map(|upstream| upstream.models(caller));
        let lists = futures_util::future::join_all(lists).await;
        let mut models = Vec::new();
        for (position, list) in lists.into_iter().enumerate() {
            let list = list.unwrap_or_else(|error| {
                tracing::warn!(%error, "an upstream does not list its models");
                Vec::new()
            });
            let is_answered_here = |model: &models::Model| {
                let first = self.http.iter().position(|upstream| upstream.takes(&model.id));
                first == Some(position)
            };
            models.extend(list.into_iter().filter(is_answered_here).map(|model| model.json));
        }
        models
    }
}

impl Origins {
    /// Whether this one is.
    pub(crate) fn contain(&self, origin: &Origin) -> bool {
        self.memory().contains(origin)
    }

    /// Remembers this one.
    pub(crate) fn remember(&self, origin: &Origin) {
        let mut memory = self.memory();
        if memory.len() >= REMEMBERED {
            memory.clear();
        }
        memory.insert(origin.clone());
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, HashSet<Origin>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl<'a> Upstream<'a> {
    /// The name that operators know it by.
    pub(crate) fn label(self) -> &'a str {
        match self {
            Self::Sim => SIM,
            Self::Http(http) => http.label(),
        }
    }
}

impl Upstream<'_> {
    /// The API that it speaks.
    pub(crate) fn api(self) -> Dialect {
        match self {
            Self::Sim => Dialect::Responses,
            Self::Http(http) => http.api(),
        }
    }

    /// Whether it is a server that speaks the Responses API, and may keep to all of it.
    pub(crate) fn is_responses_server(self) -> bool {
        matches!(self, Self::Http(http) if http.api() == Dialect::Responses)
    }

    /// Where items of this upstream's `model` come from.
    pub(crate) fn origin(self, model: &str) -> Origin {
        match self {
            Self::Sim => Origin::new(SIM),
            Self::Http(http) => Origin::new(format!("{} {model}", http.name())),
        }
    }

    /// How many tokens its models take, input and answer together, where that is known.
    pub(crate) fn context_window(self) -> Option<u64> {
        match self {
            Self::Sim => Some(SIM_WINDOW),
            Self::Http(http) => http.context_window(),
        }
    }

    /// Whether it is shown the token of a caller that has one.
    pub(crate) fn takes_tokens(self) -> bool {
        match self {
            Self::Sim => false,
            Self::Http(http) => http.takes_tokens(),
        }
    }

    /// The bound, in bytes, on one event of its answers.
    pub(crate) fn max_event(self) -> usize {
        match self {
            Self::Sim => usize::MAX,
            Self::Http(http) => http.max_answer(),
        }
    }

    /// How often it is asked again, and how long an answer may take in all.
    fn patience(self) -> (Retries, Duration) {
        match self {
            Self::Sim => (Retries::none(), Duration::ZERO),
            Self::Http(http) => http.patience(),
        }
    }

    /// Sends a request's body. The answer's events follow in the reply, the last of them before
    /// `end`.
    async fn send(
        self,
        body: Chunks,
        caller: &Caller,
        end: Instant,
    ) -> Result<Reply, UpstreamError> {
        match self {
            Self::Sim => sim::answer(&body.to_bytes())
                .map(|events| Reply::Events(ByteStream::Made(Box::new(events))))
                .map_err(|error| UpstreamError::invalid(&error.to_string())),
            Self::Http(http) => http.respond(body, caller, end).await,
        }
    }
}
