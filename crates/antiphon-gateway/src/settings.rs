//! The settings of a gateway.

mod api_key;
mod capabilities;
mod limits;
mod local_model;
mod origin;
mod pass_through;
mod secret;
mod state;
mod store;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::Form;
use http::{HeaderName, Uri};

pub use self::api_key::{ApiKey, KeyHash};
pub use self::capabilities::{Capabilities, Preset};
pub use self::limits::{Limits, Quota, Rate};
pub use self::local_model::{EventStream, LocalModel};
pub(crate) use self::origin::without_port;
pub use self::origin::{HostName, Origin};
pub use self::pass_through::PassThrough;
pub use self::secret::{Secret, SigningSecret};
pub use self::state::{Ledger, State};
pub use self::store::StoreSettings;
pub use self::webhooks::{Allowed, Webhook, WebhookEvent};

/// The settings of a gateway, independent of their source (flags, environment, file).
#[derive(Clone, Debug)]
pub struct Settings {
    /// The model that the gateway serves itself.
    pub local_model: Option<Arc<dyn LocalModel>>,
    /// The upstreams for all other models. The first one that matches a model's name serves it.
    pub upstreams: Vec<UpstreamSettings>,
    /// The keys of callers. If empty, callers need no key. Each token that goes to an upstream is
    /// then a tenant of its own, and a token that goes to no upstream is ignored.
    pub api_keys: Vec<ApiKey>,
    /// The header in which a trusted proxy names the tenant, for tokens that rotate. It excludes
    /// `api_keys`.
    pub tenant_header: Option<HeaderName>,
    /// The origins of web pages that may use the gateway. If the gateway listens on a loopback
    /// address and has neither `api_keys` nor a `tenant_header`, all other pages are rejected.
    pub allowed_origins: Vec<Origin>,
    /// Additional host names for clients of a gateway that rejects pages. The names of this machine
    /// and of the allowed origins are always accepted.
    pub allowed_hosts: Vec<HostName>,
    /// The operator's secrets, which encrypt the gateway's own key in the store. The first one
    /// encrypts, and any of them can decrypt.
    pub secrets: Vec<Secret>,
    /// The handling of input that a provider would reject.
    pub faults: Faults,
    /// The maximum time that a turn waits for an open turn of its conversation.
    pub turn_wait: Duration,
    /// The handling of a turn whose caller disconnects.
    pub on_disconnect: OnDisconnect,
    /// The names of events that differ between OpenAI and Open Responses.
    pub event_names: Form,
    /// The lifetime of responses. `None` means until they are deleted. Conversations do not expire.
    pub retention: Option<Duration>,
    /// The time that a shutdown waits for open turns before it settles them.
    pub shutdown_grace: Duration,
    /// The limits for callers.
    pub limits: Limits,
    /// The requests outside the gateway's own routes that pass to upstreams. `None` passes all
    /// requests to an upstream that receives the caller's own token, or if there is one tenant;
    /// otherwise only requests that store nothing.
    pub pass_through: Option<PassThrough>,
    /// The endpoints that are notified when background responses end.
    pub webhooks: Vec<Webhook>,
    /// The stored data of items that an upstream owns.
    pub ledger: Ledger,
    /// The handling of a failing store.
    pub store: StoreSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            local_model: None,
            upstreams: Vec::new(),
            api_keys: Vec::new(),
            tenant_header: None,
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            secrets: Vec::new(),
            faults: Faults::Repair,
            turn_wait: Duration::from_secs(30),
            on_disconnect: OnDisconnect::Settle,
            event_names: Form::OpenAi,
            retention: Some(Duration::from_hours(30 * 24)),
            // Less than the 30 seconds that Kubernetes gives a container, so that open turns are
            // settled before it is killed.
            shutdown_grace: Duration::from_secs(25),
            limits: Limits::default(),
            pass_through: None,
            webhooks: Vec::new(),
            ledger: Ledger::Heads,
            store: StoreSettings::default(),
        }
    }
}

/// An upstream.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// The name for operators and callers. If `None`, operators see its host, and callers see no
    /// name, because they must not see hosts.
    pub name: Option<String>,
    /// The models that it serves; by default all.
    pub models: Vec<ModelPattern>,
    /// Its API: Responses, Chat Completions or Anthropic Messages.
    pub api: UpstreamApi,
    /// Its base URL, to which `/responses`, `/chat/completions` or `/messages` is appended.
    pub url: Uri,
    /// The key for the upstream. `None` means the caller's own token.
    pub key: Option<Secret>,
    /// The time limit for opening a connection, including the name lookup and TLS.
    pub connect_timeout: Duration,
    /// The time limit for the first byte of an answer's body. Models that reason may be silent for
    /// minutes, and the provider's clients wait for 10.
    pub first_byte_timeout: Duration,
    /// The time limit between two bytes. Comments of an event stream count as bytes.
    pub idle_timeout: Duration,
    /// The time limit of a whole answer, retries included.
    pub total_timeout: Duration,
    /// The retry settings.
    pub retries: Retries,
    /// The maximum size of an answer in bytes. In a stream, it applies to the output and to each
    /// event; otherwise, to the whole answer.
    pub max_answer: usize,
    /// The context window of its models, input and output together, in tokens. `None` if unknown.
    pub context_window: Option<u32>,
    /// The owner of new conversations and responses of its models.
    pub state: State,
    /// Its capabilities, if it owns the state. `None` means that they are detected.
    pub capabilities: Option<Capabilities>,
    /// The maximum number of its open answers. Further requests fail with status 429, which clients
    /// retry. `None` means no limit.
    pub max_open: Option<usize>,
}

impl UpstreamSettings {
    /// Creates an upstream at `url` for all models, with the Responses API and default limits.
    pub fn new(url: Uri, key: Option<Secret>) -> Self {
        Self {
            name: None,
            models: vec![ModelPattern::new("*")],
            api: UpstreamApi::Responses,
            context_window: None,
            max_open: None,
            state: State::Here,
            capabilities: None,
            url,
            key,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(10),
            total_timeout: Duration::from_hours(1),
            retries: Retries::default(),
            max_answer: 64 << 20,
        }
    }
}

/// The retries of failed requests to an upstream.
///
/// A request is retried if the failure may be temporary: no connection, a lost connection, status
/// 408, 409, 429, 500, 502, 503, 504 or 529, or a failed response with such a code. There is no
/// retry after the first event of output, so that a caller never receives output twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The maximum number of retries; 0 means none.
    pub max: u32,
    /// The delay before the first retry. It doubles with each retry.
    pub first_delay: Duration,
    /// The maximum of these delays.
    pub max_delay: Duration,
    /// The longest delay that an upstream may request. If it requests more, there is no retry: its
    /// answer passes to the caller, which may wait.
    pub max_requested_delay: Duration,
}

impl Retries {
    /// No retries.
    pub fn none() -> Self {
        Self { max: 0, ..Self::default() }
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            max: 2,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(8),
            max_requested_delay: Duration::from_secs(20),
        }
    }
}

/// A pattern for model names. `*` matches any number of characters; all other characters match
/// themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    /// Creates a pattern from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches all names that `other` matches. The stars of `other` are compared as
    /// characters that only a star matches.
    pub fn covers(&self, other: &Self) -> bool {
        self.takes(&other.0)
    }

    /// Whether it matches a model's name.
    pub fn takes(&self, model: &str) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = model.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            let Some((_, behind)) = rest.split_once(piece) else { return false };
            rest = behind;
        }
        rest.ends_with(last)
    }
}

/// The handling of input that a provider would reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Repair it in the upstream request, and report the repair.
    Repair,
    /// Reject it with the provider's own error.
    Reject,
}

/// The handling of a turn whose caller disconnects before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisconnect {
    /// Cancel the upstream request, and store the finished items.
    Settle,
    /// Read the upstream's answer to its end, and store the whole turn.
    Finish,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_covers_every_narrower_one() {
        let covers =
            |one: &str, other: &str| ModelPattern::new(one).covers(&ModelPattern::new(other));
        for (wide, narrow) in
            [("*", "gpt-*"), ("*", "*"), ("gpt-*", "gpt-5"), ("gpt-*", "gpt-*-mini"), ("a", "a")]
        {
            assert!(covers(wide, narrow), "{wide} covers {narrow}");
        }
        for (one, other) in [("gpt-*", "*"), ("gpt-5", "gpt-*"), ("*-mini", "gpt-*"), ("a", "*a")] {
            assert!(!covers(one, other), "{one} does not cover {other}");
        }
    }

    #[test]
    fn a_star_stands_for_anything_and_for_nothing() {
        let taken = [
            ("*", "anything"),
            ("*", ""),
            ("gpt-*", "gpt-"),
            ("gpt-*", "gpt-6-mini"),
            ("*-mini", "gpt-6-mini"),
            ("gpt-*-mini*", "gpt-6-mini-mini-2026"),
            ("a*b*a", "aba"),
            ("exact", "exact"),
        ];
        for (pattern, model) in taken {
            assert!(ModelPattern::new(pattern).takes(model), "{pattern} takes {model}");
        }
        let others = [
            ("gpt-*", "claude-5"),
            ("gpt-*", "my-gpt-6"),
            ("a*a", "a"),
            ("a*bb*b", "abb"),
            ("exact", "exactly"),
            ("exact", "inexact"),
            ("", "any"),
        ];
        for (pattern, model) in others {
            assert!(!ModelPattern::new(pattern).takes(model), "{pattern} does not take {model}");
        }
    }
}
