//! What an operator decides.

mod api_key;
mod capabilities;
mod limits;
mod origin;
mod pass_through;
mod state;
mod store;
mod webhooks;

use std::fmt;
use std::time::Duration;

use antiphon::dialect::Dialect;
use antiphon::stream::Form;
use http::{HeaderName, Uri};

pub use self::api_key::{ApiKey, KeyHash};
pub use self::capabilities::{Capabilities, Preset};
pub use self::limits::{Limits, Quota, Rate};
pub(crate) use self::origin::without_port;
pub use self::origin::{HostName, Origin};
pub use self::pass_through::PassThrough;
pub use self::state::{Ledger, State};
pub use self::store::StoreSettings;
pub use self::webhooks::{Allowed, SigningSecret, Webhook, WebhookEvent};

/// How a gateway behaves. Where the values come from (flags, environment, file) is not its concern.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where models other than `sim` are. The first that takes a model's name answers for it.
    pub upstreams: Vec<UpstreamSettings>,
    /// The keys that callers may present. Empty: any token, or none, is let in, and each token that
    /// goes to an upstream is a tenant of its own. A token that goes nowhere is none.
    pub api_keys: Vec<ApiKey>,
    /// The header in which a trusted proxy names the tenant, for tokens that rotate. Never beside
    /// `api_keys`.
    pub tenant_header: Option<HeaderName>,
    /// The web pages that may use the gateway, by their origins. Where it listens on a loopback address
    /// and has neither `api_keys` nor a `tenant_header`, all other pages are refused.
    pub allowed_origins: Vec<Origin>,
    /// The names, beside those of this machine and of the allowed origins, by which clients may reach a
    /// gateway that refuses pages.
    pub allowed_hosts: Vec<HostName>,
    /// The operator's secrets: with them the store keeps the gateway's own key encrypted. The first
    /// encrypts, any of them may decrypt.
    pub secrets: Vec<Secret>,
    /// What to do with input that a provider would refuse.
    pub faults: Faults,
    /// How long a turn waits for an open one of its conversation.
    pub turn_wait: Duration,
    /// What becomes of a turn whose caller leaves.
    pub on_disconnect: OnDisconnect,
    /// How events are named where OpenAI and Open Responses differ.
    pub event_names: Form,
    /// How long responses are kept; `None`: until they are deleted. Conversations do not expire.
    pub retention: Option<Duration>,
    /// How long a stop waits for open turns before it settles them.
    pub shutdown_grace: Duration,
    /// How much callers may send, hold open and ask for.
    pub limits: Limits,
    /// What passes to upstreams of the requests that are none of the gateway's own. `None`: everything
    /// to an upstream that is shown the caller's own token, or where there is one tenant; else what
    /// stores nothing.
    pub pass_through: Option<PassThrough>,
    /// Who is told when responses in the background have ended.
    pub webhooks: Vec<Webhook>,
    /// What is kept of items whose owner is an upstream.
    pub ledger: Ledger,
    /// How the gateway meets a store that fails.
    pub store: StoreSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
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
    /// What operators and callers know it by. `None`: operators by its host, callers by nothing, since
    /// no caller is told of hosts.
    pub name: Option<String>,
    /// The models that it answers for; by default all.
    pub models: Vec<ModelPattern>,
    /// The API that it speaks: Responses, Chat Completions or Anthropic Messages.
    pub api: Dialect,
    /// Its base URL: `/responses`, `/chat/completions` or `/messages` is put behind it.
    pub url: Uri,
    /// The key to present to it; `None`: the caller's own token.
    pub key: Option<Secret>,
    /// How long a connection may take to open, name lookup and TLS included.
    pub connect_timeout: Duration,
    /// How long it may stay silent before the first byte of an answer, the headers aside. Models
    /// that reason may be silent for minutes, and the provider's clients wait for 10.
    pub first_byte_timeout: Duration,
    /// How long it may stay silent between two bytes. Comments of an event stream count as bytes.
    pub idle_timeout: Duration,
    /// How long an answer may take in all, retries included.
    pub total_timeout: Duration,
    /// How often it is asked again.
    pub retries: Retries,
    /// The bound, in bytes, on what an answer comes to: on the output of one that streams and on each
    /// of its events, and on the whole of one that does not stream.
    pub max_answer: usize,
    /// How many tokens its models take, input and answer together; `None`: not known here.
    pub context_window: Option<u32>,
    /// Who keeps what is begun with its models.
    pub state: State,
    /// What it can do where it keeps the state; `None`: found out.
    pub capabilities: Option<Capabilities>,
    /// How many of its answers may be open at once; a request beyond them is refused with status
    /// 429, which clients try again. `None`: any number.
    pub max_open: Option<usize>,
}

impl UpstreamSettings {
    /// The upstream at `url` for all models, speaking the Responses API, with the usual bounds.
    pub fn new(url: Uri, key: Option<Secret>) -> Self {
        Self {
            name: None,
            models: vec![ModelPattern::new("*")],
            api: Dialect::Responses,
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

/// How often an upstream that failed is asked again, and when.
///
/// It is where the failure may pass (no connection, one that broke, status 408, 409, 429, 500, 502, 503,
/// 504 or 529, or an answer that failed so) and only before the first event of output: a caller is
/// told nothing twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How often at most; 0: never.
    pub max: u32,
    /// The delay before the first retry. It doubles with each.
    pub first_delay: Duration,
    /// The bound on these delays.
    pub max_delay: Duration,
    /// The longest wait that an upstream may ask for. One that asks for more is not asked again:
    /// what it said is passed on to the caller, who may wait.
    pub max_told_delay: Duration,
}

impl Retries {
    /// An upstream is asked once.
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
            max_told_delay: Duration::from_secs(20),
        }
    }
}

/// Names of models: `*` stands for any characters, also none; all others for themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    /// The pattern of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it takes every name that `other` takes: the stars of `other` stand for characters
    /// that only a star takes.
    pub fn covers(&self, other: &Self) -> bool {
        self.takes(&other.0)
    }

    /// Whether a model's name is one of them.
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

/// What to do with input that a provider would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Mend it in what is sent, and say so.
    Repair,
    /// Refuse it with the provider's own error.
    Reject,
}

/// What becomes of a turn whose caller leaves before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisconnect {
    /// The upstream is left; what is finished is kept.
    Settle,
    /// The upstream is heard to its end; the whole turn is kept.
    Finish,
}

/// A key or token. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the header that it goes into.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
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
