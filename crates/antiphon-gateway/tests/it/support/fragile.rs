//! A gateway whose store can be made to fail.

use std::future;
use std::sync::Arc;
use std::time::Duration;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{Retries, Settings, UpstreamSettings};
use antiphon_testkit::FakeUpstream;
use tokio::net::TcpListener;

use super::{Client, Faulty, default_settings};

/// A gateway on a store that can be made to fail, in front of an upstream that is asked once.
pub(crate) struct FragileGateway {
    pub(crate) upstream: FakeUpstream,
    pub(crate) store: Faulty,
    pub(crate) client: Client,
}

impl FragileGateway {
    pub(crate) async fn start() -> Self {
        // What was written once is trusted, so that a test decides alone what is written when.
        Self::with(|settings| settings.store.trusted_for = Duration::from_hours(1)).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let upstream = FakeUpstream::start().await;
        let url = upstream.base_url().parse().expect("it is a URL");
        let asked_once =
            UpstreamSettings { retries: Retries::none(), ..UpstreamSettings::new(url, None) };
        let mut settings = Settings { upstreams: vec![asked_once], ..default_settings() };
        change(&mut settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
        let client = Client::at(&format!("http://{}", listener.local_addr().expect("it is bound")));
        let store = Faulty::new();
        tokio::spawn(serve(listener, settings, Arc::new(store.clone()), future::pending()));
        Self { upstream, store, client }
    }
}
