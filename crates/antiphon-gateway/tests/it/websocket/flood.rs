//! Clients that send pings and nothing else.

use std::time::Duration;

use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::{SIM, World, ask};

/// How many bytes systems take in ahead on both sides, at most.
const BEYOND_ANY_BUFFER: usize = 64 << 20;

#[tokio::test]
async fn ping_flood_is_limited() {
    let world =
        World::with(|settings| settings.limits.client_timeout = Duration::from_millis(200)).await;
    let mut client = world.connect().await;
    client
        .send(
            "GET /v1/responses HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a\r\n\
             connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        .await;
    client.read_until("\r\n\r\n").await;
    // 500 pings of 125 bytes, masked with zeros.
    let ping = [&[0x89, 0x80 | 0x7d, 0, 0, 0, 0][..], &[b'x'; 125]].concat().repeat(500);

    let taken = client.flood(&ping, BEYOND_ANY_BUFFER).await;

    assert!(taken < BEYOND_ANY_BUFFER, "{taken} bytes");
}

#[tokio::test]
async fn endless_pings_close_the_connection() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for _ in 0..200 {
        if !socket.try_send_message(Message::Ping("still there?".into())).await {
            break;
        }
    }
    assert_eq!(socket.closed().await, CloseCode::Policy);
    assert_eq!(world.anonymous_client().get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn pings_at_a_clients_pace_are_answered_between_turns() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for _ in 0..20 {
        socket.send_message(Message::Ping("still there?".into())).await;
        assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
    }
}
