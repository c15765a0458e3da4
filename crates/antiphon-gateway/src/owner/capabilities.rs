//! The capabilities of an upstream that owns state: configured, known by its host, or detected.

use std::sync::atomic::Ordering;
use std::time::Duration;

use antiphon_store::Tenant;
use futures_util::future::join_all;
use http::{HeaderMap, Uri};

use super::probe::Probes;
use crate::caller::Caller;
use crate::entropy::from_now;
use crate::request_id::RequestId;
use crate::settings::{Capabilities, Preset, State};
use crate::span::TraceSpan;
use crate::upstream::{HttpUpstream, Upstreams};

/// The time limit for detecting capabilities. A turn may wait for it.
const MAX_PROBE_TIME: Duration = Duration::from_secs(10);

impl HttpUpstream {
    /// The capabilities from the settings, else those known for its host, else those that a probe
    /// detects. The probe uses this caller's token if the operator has no key for the upstream.
    ///
    /// If the probe has no result (the upstream is unreachable or rejects the caller), this request
    /// assumes all capabilities. The upstream then rejects unsupported requests itself, and no
    /// lasting decision depends on a guess: if the gateway assumed no conversations during a short
    /// outage, it would create them in its own store for good. The next request that needs the
    /// capabilities probes again.
    pub(crate) async fn capabilities(&self, caller: &Caller) -> Capabilities {
        let found = self.find_capabilities(caller).await;
        found.unwrap_or_else(|| Preset::OpenAi.capabilities())
    }

    /// The capabilities, or `None` if the probe has no result.
    async fn find_capabilities(&self, caller: &Caller) -> Option<Capabilities> {
        let known = self.known_capabilities();
        if known.is_some() {
            return known;
        }
        let detected = self.detected();
        let failures = detected.failures.load(Ordering::Acquire);
        let _alone = detected.probe_lock.lock().await;
        // Another task may have finished the probe during the wait, with or without a result.
        if detected.capabilities.get().is_some()
            || detected.failures.load(Ordering::Acquire) != failures
        {
            return detected.capabilities.get().copied();
        }
        let found = Probes::new(self, caller, from_now(MAX_PROBE_TIME)).capabilities().await;
        match found {
            Some(found) => {
                self.log_capabilities(found);
                detected.capabilities.set(found).expect("only one probe runs at a time");
            }
            None => _ = detected.failures.fetch_add(1, Ordering::AcqRel),
        }
        found
    }

    /// The capabilities that need no probe.
    fn known_capabilities(&self) -> Option<Capabilities> {
        let found = || self.detected().capabilities.get().copied();
        self.configured_capabilities()
            .or_else(|| preset_of_host(self.url()).map(Preset::capabilities))
            .or_else(found)
    }

    fn log_capabilities(&self, found: Capabilities) {
        let Capabilities { conversations, chains, item_deletion, input_items } = found;
        let upstream = self.base();
        tracing::info!(
            upstream,
            conversations,
            chains,
            item_deletion,
            input_items,
            "detected the capabilities of an upstream that owns state"
        );
    }
}

/// Probes the upstreams that own state when the gateway starts, and never returns.
pub(crate) async fn detect_capabilities(upstreams: &Upstreams) {
    detect_all(upstreams).await;
    std::future::pending::<()>().await;
}

/// Probes the upstreams with a key of the operator and unknown capabilities. The others are probed
/// with a caller's token when a request needs them.
async fn detect_all(upstreams: &Upstreams) {
    let nobody = Caller {
        tenant: Tenant::new(""),
        token: None,
        request_id: RequestId::issue(),
        headers: HeaderMap::new(),
        trace: TraceSpan::default(),
    };
    let keep = |http: &&HttpUpstream| http.state() == State::Upstream && http.has_own_key();
    let asked = upstreams.http().iter().filter(keep).map(async |http| {
        if http.find_capabilities(&nobody).await.is_none() {
            let upstream = http.base();
            tracing::warn!(
                upstream,
                "could not detect the capabilities of an upstream; the next request that needs \
                 them sends the probe again"
            );
        }
    });
    join_all(asked).await;
}

/// The preset for this host.
///
/// A Foundry project has none: it shares the hosts of Azure resources, but may have conversations
/// under its own path.
fn preset_of_host(url: &Uri) -> Option<Preset> {
    const AZURE: [&str; 3] =
        [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];
    let host = url.host()?.to_ascii_lowercase();
    if host == "api.openai.com" {
        return Some(Preset::OpenAi);
    }
    let is_azures = AZURE.iter().any(|domain| host.ends_with(domain));
    let is_project = url.path().starts_with("/api/projects/");
    (is_azures && !is_project).then_some(Preset::Azure)
}

#[cfg(test)]
mod tests;
