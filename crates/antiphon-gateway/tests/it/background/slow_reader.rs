//! A store that takes its time.

use super::in_background;
use crate::support::{FragileGateway, ask};

#[tokio::test]
async fn events_are_sent_after_they_are_logged() {
    let FragileGateway { upstream: _upstream, store, client } = FragileGateway::start().await;
    store.pause_recording();
    let mut events = client.stream(&in_background("Hello")).await;
    let id = events.response_id().await;
    events.until("response.queued").await;

    assert_eq!(client.stored_response(&id).await["status"], "queued");
    client.respond(&ask("Hello")).await;
    store.resume_recording();

    let turn = events.ended().await;
    assert_eq!(turn.text(), "Noted.");
    assert_eq!(client.stored_response(&id).await, turn.response);
}
