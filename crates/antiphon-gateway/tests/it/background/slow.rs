//! A store that takes its time.

use super::in_background;
use crate::support::{FragileGateway, ask};

#[tokio::test]
async fn nothing_is_told_before_it_is_logged_and_then_everything_is() {
    let FragileGateway { upstream: _upstream, store, client } = FragileGateway::start().await;
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
