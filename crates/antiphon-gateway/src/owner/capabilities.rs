//! What an upstream can do where it keeps the state: told, known, or found out.

use std::sync::atomic::Ordering;
use std::time::Duration;

use antiphon_store::Tenant;
use futures_util::future::join_all;
use http::{HeaderMap, Uri};

use super::probe::Probes;
use crate::bound::from_now;
use crate::caller::Caller;
use crate::request_id::RequestId;
use crate::settings::{Capabilities, Preset, State};
use crate::upstream::{HttpUpstream, Upstreams};

/// How long an upstream may take to say what it can do. A turn may wait for it.
const PATIENCE: Duration = Duration::from_secs(10);

impl HttpUpstream {
    /// What it can do: what the settings say; else what is known of its host; else what it says itself
    /// when it is asked, on behalf of this caller where the operator has no key there.
    ///
    /// One that does not say (it cannot be reached, it does not let this caller in) is taken to be able to
    /// do everything, for this request: then it is the upstream that refuses what it cannot do, and
    /// nothing that lasts is decided by a guess. Taken to have no conversations it would have them kept
    /// here, for ever, because it was away for a moment. The next to need it asks again.
    pub(crate) async fn capabilities(&self, caller: &Caller) -> Capabilities {
        let found = self.find_capabilities(caller).await;
        found.unwrap_or_else(|| Preset::OpenAi.capabilities())
    }

    /// The same; `None` where it does not say.
    async fn find_capabilities(&self, caller: &Caller) -> Option<Capabilities> {
        let known = self.known_capabilities();
        if known.is_some() {
            return known;
        }
        let findings = self.findings();
        let unsaid = findings.unsaid.load(Ordering::Acquire);
        let _alone = findings.asked.lock().await;
        // Whoever was waited for has either found it out or asked in vain.
        if findings.found.get().is_some() || findings.unsaid.load(Ordering::Acquire) != unsaid {
            return findings.found.get().copied();
        }
        let said = Probes::of(self, caller, from_now(PATIENCE)).capabilities().await;
        match said {
            Some(found) => {
                self.tell_of(found);
                findings.found.set(found).expect("only one at a time finds it out");
            }
            None => _ = findings.unsaid.fetch_add(1, Ordering::AcqRel),
        }
        said
    }

    /// What needs no request.
    fn known_capabilities(&self) -> Option<Capabilities> {
        let found = || self.findings().found.get().copied();
        self.told_capabilities()
            .or_else(|| of_host(self.url()).map(Preset::capabilities))
            .or_else(found)
    }

    fn tell_of(&self, found: Capabilities) {
        let Capabilities { conversations, chains, item_deletion, input_items } = found;
        let upstream = self.base();
        tracing::info!(
            upstream,
            conversations,
            chains,
            item_deletion,
            input_items,
            "asked an upstream what it can do where it keeps the state"
        );
    }
}

/// Asks the upstreams that keep state what they can do, as soon as a gateway serves; then it is never done.
pub(crate) async fn find_out(upstreams: &Upstreams) {
    ask_all(upstreams).await;
    std::future::pending::<()>().await;
}

/// Asks those to which the operator has a key, where it is not known. The others are asked when a caller's
/// request needs it, with what that caller shows them.
async fn ask_all(upstreams: &Upstreams) {
    let nobody = Caller {
        tenant: Tenant::new(""),
        token: None,
        request_id: RequestId::issue(),
        headers: HeaderMap::new(),
    };
    let keep = |http: &&HttpUpstream| http.state() == State::Upstream && http.has_own_key();
    let asked = upstreams.all().iter().filter(keep).map(async |http| {
        if http.find_capabilities(&nobody).await.is_none() {
            let upstream = http.base();
            tracing::warn!(upstream, "an upstream did not say what it can do; it is asked again");
        }
    });
    join_all(asked).await;
}

/// The kind of server that has this host.
///
/// A Foundry project is none of them: it shares the hosts of Azure's resources, but its path may have
/// conversations of its own.
fn of_host(url: &Uri) -> Option<Preset> {
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
