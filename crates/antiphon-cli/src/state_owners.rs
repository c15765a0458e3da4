//! The owners of conversation state, as `serve` reports them at startup.

use std::fmt;

use antiphon::dialect::Vendor;
use antiphon_gateway::settings::{ModelPattern, Settings, State, UpstreamSettings};

/// The hosts of the upstreams that own the state of conversations with their models. Antiphon owns
/// all other state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateOwners {
    hosts: Vec<String>,
    /// The upstream that owns conversations created without a model.
    pub(crate) of_new_conversations: Option<StateOwner>,
}

/// An upstream that owns conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateOwner {
    pub(crate) host: String,
    /// Whether the gateway forwards the callers' own tokens to it.
    pub(crate) receives_tokens: bool,
}

impl StateOwners {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let keeps = |upstream: &&UpstreamSettings| upstream.state == State::Upstream;
        let mut hosts: Vec<String> = settings.upstreams.iter().filter(keeps).map(host).collect();
        hosts.sort();
        hosts.dedup();
        let of_new_conversations = default_upstream(settings).filter(keeps).map(|upstream| {
            StateOwner { host: host(upstream), receives_tokens: upstream.key.is_none() }
        });
        Self { hosts, of_new_conversations }
    }

    /// Logs each upstream that owns state.
    pub(crate) fn log(&self) {
        for upstream in &self.hosts {
            tracing::info!(
                upstream,
                "this upstream owns the conversations that begin with its models"
            );
        }
    }
}

impl fmt::Display for StateOwners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts[..] {
            [] => f.write_str("Antiphon owns conversations and responses, in its store."),
            hosts => {
                let hosts = hosts.join(", ");
                write!(f, "{hosts} owns the conversations that begin with its models. ")?;
                f.write_str("Antiphon owns the others.")
            }
        }
    }
}

/// The upstream for requests that name no model: the first one that accepts every model, otherwise
/// the first one. Upstreams with Anthropic's API come last.
fn default_upstream(settings: &Settings) -> Option<&UpstreamSettings> {
    let any = ModelPattern::new("*");
    let speaking = || settings.upstreams.iter().filter(|it| it.api.vendor() == Vendor::OpenAi);
    let general = speaking().find(|upstream| upstream.models.contains(&any));
    general.or_else(|| speaking().next()).or_else(|| settings.upstreams.first())
}

/// The host of an upstream, with its port.
pub(crate) fn host(upstream: &UpstreamSettings) -> String {
    upstream.url.authority().map_or_else(|| upstream.url.to_string(), ToString::to_string)
}
