//! Where models are: the built-in one, and an HTTP upstream.

mod body;
mod error;
mod http;

use std::collections::HashSet;
use std::sync::Mutex;

use antiphon::Origin;
use bytes::Bytes;

pub(crate) use self::body::{ByteStream, Reply};
pub(crate) use self::error::{Refused, UpstreamError};
use self::http::HttpUpstream;
use crate::caller::Caller;
use crate::settings::Settings;
use crate::sim;

/// The name of the built-in model.
pub(crate) const SIM: &str = "sim";

/// All upstreams of a gateway.
pub(crate) struct Upstreams {
    http: Option<HttpUpstream>,
    /// Origins known to refuse encrypted reasoning.
    without_encryption: Mutex<HashSet<Origin>>,
}

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
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            http: settings.upstream.as_ref().map(HttpUpstream::new),
            without_encryption: Mutex::default(),
        }
    }

    /// Who answers for `model`: a model named `sim` is the built-in one, wherever others are.
    pub(crate) fn of_model(&self, model: &str) -> Option<Upstream<'_>> {
        if model == SIM {
            return Some(Upstream::Sim);
        }
        self.http.as_ref().map(Upstream::Http)
    }

    /// The HTTP upstream's own list of models, as it came.
    pub(crate) async fn models(&self, caller: &Caller) -> Option<Result<Bytes, UpstreamError>> {
        match &self.http {
            Some(http) => Some(http.models(caller).await),
            None => None,
        }
    }

    /// Whether an origin is known to refuse encrypted reasoning.
    pub(crate) fn refuses_encryption(&self, origin: &Origin) -> bool {
        self.memory().contains(origin)
    }

    /// Remembers that an origin refuses encrypted reasoning.
    pub(crate) fn remember_refusal(&self, origin: &Origin) {
        let mut memory = self.memory();
        if memory.len() >= REMEMBERED {
            memory.clear();
        }
        memory.insert(origin.clone());
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, HashSet<Origin>> {
        self.without_encryption.lock().expect("no holder of this lock panics")
    }
}

impl Upstream<'_> {
    /// Where items of this upstream's `model` come from.
    pub(crate) fn origin(self, model: &str) -> Origin {
        match self {
            Self::Sim => Origin::new(SIM),
            Self::Http(http) => Origin::new(format!("{} {model}", http.name())),
        }
    }

    /// Sends a request's body. The answer's events follow in the reply.
    pub(crate) async fn send(self, body: Bytes, caller: &Caller) -> Result<Reply, UpstreamError> {
        match self {
            Self::Sim => sim::answer(&body)
                .map(|events| Reply::Events(ByteStream::Made(Box::new(events))))
                .map_err(|error| UpstreamError::invalid(&error.to_string())),
            Self::Http(http) => http.respond(body, caller).await,
        }
    }
}
