//! What an operator decides.

use std::fmt;
use std::time::Duration;

use antiphon_store::Tenant;
use http::Uri;

/// How a gateway behaves. Where the values come from (flags, environment, file) is not its concern.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where models other than `sim` are; `None`: nowhere.
    pub upstream: Option<UpstreamSettings>,
    /// The keys that callers may present, each with its tenant. Empty: any token, or none, is let
    /// in, and each token is a tenant of its own.
    pub api_keys: Vec<(Secret, Tenant)>,
    /// What to do with input that a provider would refuse.
    pub faults: Faults,
    /// How long a turn waits for an open one of its conversation.
    pub turn_wait: Duration,
    /// What becomes of a turn whose caller leaves.
    pub on_disconnect: OnDisconnect,
    /// How long a stop waits for open turns before it settles them.
    pub shutdown_grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            upstream: None,
            api_keys: Vec::new(),
            faults: Faults::Repair,
            turn_wait: Duration::from_secs(30),
            on_disconnect: OnDisconnect::Settle,
            shutdown_grace: Duration::from_secs(30),
        }
    }
}

/// An upstream that speaks `POST /v1/responses`.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// Its base URL, ending in `/v1`.
    pub url: Uri,
    /// The key to present to it; `None`: the caller's own token.
    pub key: Option<Secret>,
    /// How long a connection may take to open.
    pub connect_timeout: Duration,
    /// How long it may stay silent, before its first byte and between two.
    pub idle_timeout: Duration,
}

impl UpstreamSettings {
    /// The upstream at `url` with the usual bounds.
    pub fn new(url: Uri, key: Option<Secret>) -> Self {
        Self {
            url,
            key,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(10),
        }
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
