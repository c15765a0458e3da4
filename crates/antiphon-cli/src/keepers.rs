//! Who keeps the state of conversations, as `serve` tells it when it starts.

use std::fmt;

use antiphon::dialect::Dialect;
use antiphon_gateway::settings::{ModelPattern, Settings, State, UpstreamSettings};

/// The hosts of the upstreams that keep what begins with their models. Antiphon keeps the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keepers {
    hosts: Vec<String>,
    /// Which of them keeps conversations that are created for no model.
    pub(crate) of_conversations: Option<Keeper>,
}

/// An upstream that keeps conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Keeper {
    pub(crate) host: String,
    /// Whether it is shown the callers' own tokens.
    pub(crate) takes_tokens: bool,
}

impl Keepers {
    pub(crate) fn of(settings: &Settings) -> Self {
        let keeps = |upstream: &&UpstreamSettings| upstream.state == State::Upstream;
        let mut hosts: Vec<String> = settings.upstreams.iter().filter(keeps).map(host).collect();
        hosts.sort();
        hosts.dedup();
        let of_conversations = default_upstream(settings)
            .filter(keeps)
            .map(|upstream| Keeper { host: host(upstream), takes_tokens: upstream.key.is_none() });
        Self { hosts, of_conversations }
    }

    /// Logs it, where it is not Antiphon alone.
    pub(crate) fn log(&self) {
        for upstream in &self.hosts {
            tracing::info!(upstream, "this upstream keeps what begins with its models");
        }
    }
}

impl fmt::Display for Keepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts[..] {
            [] => f.write_str("Antiphon keeps conversations and responses, in its store."),
            hosts => {
                let hosts = hosts.join(", ");
                write!(f, "{hosts}: keeps what begins with its models. Antiphon keeps the rest.")
            }
        }
    }
}

/// Who is asked where a request names no model: the first that takes every model's name, else the
/// first; servers of Anthropic's API last.
fn default_upstream(settings: &Settings) -> Option<&UpstreamSettings> {
    let any = ModelPattern::new("*");
    let speaking = || settings.upstreams.iter().filter(|it| it.api != Dialect::Anthropic);
    let general = speaking().find(|upstream| upstream.models.contains(&any));
    general.or_else(|| speaking().next()).or_else(|| settings.upstreams.first())
}

fn host(upstream: &UpstreamSettings) -> String {
    upstream.url.authority().map_or_else(|| upstream.url.to_string(), ToString::to_string)
}
