//! A gateway of two tenants whose every question to its store is seen.

use std::future::pending;
use std::sync::Arc;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{ApiKey, Secret, Settings, UpstreamSettings};
use antiphon_store::{SqliteStore, Tenant};
use antiphon_testkit::FakeUpstream;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::recording::{Call, Recording};
use crate::support::{Client, Roots};

/// The tenant that has something.
pub(super) const ACME: (&str, &str) = ("sk-of-acme", "acme");
/// The tenant that tries to get at it.
pub(super) const UMBRELLA: (&str, &str) = ("sk-of-umbrella", "umbrella");

/// A gateway, an upstream, and a real store with a recording one in front.
pub(super) struct Watched {
    pub(super) upstream: FakeUpstream,
    store: Arc<Recording>,
    root: String,
    _folder: TempDir,
}

impl Watched {
    pub(super) async fn new() -> Self {
        let upstream = FakeUpstream::start().await;
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = SqliteStore::open(&folder.path().join("antiphon.db")).expect("it opens");
        let store = Arc::new(Recording::new(Arc::new(file)));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let root = format!("http://{}", listener.local_addr().expect("it is bound"));
        tokio::spawn(serve(listener, settings(&upstream), store.clone(), pending()));
        Self { upstream, store, root, _folder: folder }
    }

    /// A caller of the tenant that has something.
    pub(super) fn owner(&self) -> Client {
        Client::new(Roots::one(&self.root), Some(ACME.0.to_owned()))
    }

    /// A caller of the other tenant.
    pub(super) fn stranger(&self) -> Client {
        Client::new(Roots::one(&self.root), Some(UMBRELLA.0.to_owned()))
    }

    /// What the store was asked since the last time.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.store.take()
    }
}

fn settings(upstream: &FakeUpstream) -> Settings {
    let url = upstream.base_url().parse().expect("it is a URL");
    let keys = [ACME, UMBRELLA];
    Settings {
        upstreams: vec![UpstreamSettings::new(url, Some(Secret::new("key-of-the-gateway")))],
        api_keys: keys.map(|(key, tenant)| ApiKey::new(key, Tenant::new(tenant))).to_vec(),
        ..Settings::default()
    }
}
