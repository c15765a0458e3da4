//! An endpoint is told until it has it.

use antiphon_gateway::Server;
use antiphon_gateway::settings::{Settings, Webhook};
use tokio::net::TcpListener;

use super::outbox::{Outbox, status};
use crate::support::{Receiver, soon};

#[tokio::test]
async fn failed_delivery_is_retried_with_the_same_id() {
    let outbox = Outbox::new().await;
    let busy = [("retry-after", "0")];
    let mut receiver = Receiver::answering([status(500, &busy), status(302, &busy)]).await;
    let id = outbox.commit(&[&receiver.url]).await;

    let _running = outbox.serve(vec![receiver.webhook()]).await;

    for _ in 0..3 {
        assert_eq!(receiver.next().await.id(), id);
    }
    let later = outbox.commit(&[&receiver.url]).await;
    assert_eq!(receiver.next().await.id(), later, "it was told, and is not told again");
    assert_eq!(outbox.waiting().await, [""; 0]);
}

#[tokio::test]
async fn removed_endpoint_is_not_retried() {
    let outbox = Outbox::new().await;
    let gone = status(410, &[("retry-after", "0")]);
    let mut receiver = Receiver::answering([gone]).await;
    let first = outbox.commit(&[&receiver.url]).await;

    let _running = outbox.serve(vec![receiver.webhook()]).await;

    assert_eq!(receiver.next().await.id(), first);
    for _ in 0..2 {
        let next = outbox.commit(&[&receiver.url]).await;
        assert_eq!(receiver.next().await.id(), next);
    }
    assert_eq!(outbox.waiting().await, [""; 0]);
}

#[tokio::test]
async fn endpoints_are_delivered_independently() {
    let outbox = Outbox::new().await;
    let mut well = Receiver::answering([]).await;
    let mut failing = Receiver::answering([status(503, &[])]).await;
    let id = outbox.commit(&[&well.url, &failing.url]).await;

    let _running = outbox.serve(vec![well.webhook(), failing.webhook()]).await;

    assert_eq!(failing.next().await.id(), id);
    assert_eq!(well.next().await.id(), id);
    let later = outbox.commit(&[&well.url]).await;
    assert_eq!(well.next().await.id(), later, "it does not wait for the other");
    assert_eq!(failing.next().await.id(), id, "behind five seconds");
}

#[tokio::test]
async fn unconfigured_endpoint_blocks_nothing() {
    let outbox = Outbox::new().await;
    let mut receiver = Receiver::answering([]).await;
    outbox.commit(&["https://gone.example/"]).await;
    let id = outbox.commit(&[&receiver.url]).await;

    let _running = outbox.serve(vec![receiver.webhook()]).await;

    assert_eq!(receiver.next().await.id(), id);
}

#[tokio::test]
async fn unknown_endpoint_waits_for_newer_settings() {
    let outbox = Outbox::new().await;
    let mut known = Receiver::answering([]).await;
    let id = outbox.commit(&["https://added.example/"]).await;
    let _older = outbox.serve(vec![known.webhook()]).await;
    let behind = outbox.commit(&[&known.url]).await;

    assert_eq!(known.next().await.id(), behind);

    let waits = async { while outbox.waiting().await != [&*id] {} };
    soon("it waits to be told by another", waits).await;
}

#[tokio::test]
async fn invalid_endpoint_prevents_the_start() {
    let outbox = Outbox::new().await;
    let receiver = Receiver::answering([]).await;
    let in_the_clear = Webhook { allow: Vec::new(), ..receiver.webhook() };
    for webhooks in [vec![in_the_clear], vec![receiver.webhook(), receiver.webhook()]] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = Settings { webhooks, ..Settings::default() };
        let refused = Server::prepare(listener, settings, outbox.store.clone()).await;
        let error = refused.err().expect("it is refused").to_string();
        assert!(error.contains("webhook"), "{error}");
    }
}
