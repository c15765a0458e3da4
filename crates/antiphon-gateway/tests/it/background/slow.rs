//! A store that takes its time.

use std::future;
use std::sync::Arc;

use antiphon_gateway::serve;
use antiphon_gateway::settings::{Retries, Settings, UpstreamSettings};
use antiphon_testkit::FakeUpstream;
use tokio::net::TcpListener;

use super::in_background;
use crate::support::{Client, Faulty, ask};

async fn gateway() -> (FakeUpstream, Faulty, Client) {
    let upstream = FakeUpstream::start().await;
    let url = upstream.base_url().parse().expect("it is a URL");
    let asked_once =
        UpstreamSettings { retries: Retries::none(), ..UpstreamSettings::new(url, None) };
    let settings = Settings { upstreams: vec![asked_once], ..Settings::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let client = Client::at(&format!("http://{}", listener.local_addr().expect("it is bound")));
    let store = Faulty::new();
    tokio::spawn(serve(listener, settings, Arc::new(store.clone()), future::pending()));
    (upstream, store, client)
}

#[tokio::test]
async fn nothing_is_told_before_it_is_logged_and_then_everything_is() {
    let (_upstream, store, client) = gateway().await;
    store.stop_recording();
    let mut events = client.stream(&in_background("Hello")).await;
    let id = events.announced().await;
    events.until("response.queued").await;

    assert_eq!(client.kept(&id).await["status"], "queued");
    client.respond(&ask("Hello")).await;
    store.go_on_recording();

    let turn = events.ended().await;
    assert_eq!(turn.text(), "Noted.");
    assert_eq!(client.kept(&id).await, turn.response);
}
