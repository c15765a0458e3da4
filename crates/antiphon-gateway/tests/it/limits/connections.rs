//! How many connections may be open.

use std::time::Duration;

use crate::support::{Raw, SIM, World, ask};

const MODELS: &str = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Asks on a connection that stays open.
async fn assert_served(caller: &mut Raw) {
    caller.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(caller.read_until("\r\n\r\nok").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

/// A gateway at its bound of two, and the connections that are open.
async fn full_gateway() -> (World, Raw, Raw) {
    let world = World::with(|settings| settings.limits.max_connections = 2).await;
    let (mut first, mut second) = (world.connect().await, world.connect().await);
    assert_served(&mut first).await;
    assert_served(&mut second).await;
    (world, first, second)
}

#[tokio::test]
async fn connection_beyond_the_limit_waits() {
    let (world, mut first, second) = full_gateway().await;

    let mut third = world.connect().await;
    third.send(MODELS).await;
    for _ in 0..10 {
        assert_served(&mut first).await;
        assert!(!third.has_unread());
    }

    drop(second);
    assert!(third.read_until("\r\n\r\n").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn health_is_answered_at_the_connection_limit() {
    let (world, ..) = full_gateway().await;
    for path in ["/healthz", "/readyz"] {
        for _ in 0..100 {
            assert_eq!(world.anonymous_client().get(path).await.status(), 200);
        }
    }
}

#[tokio::test]
async fn waiting_requests_do_not_block_health_checks() {
    let (world, _first, _second) = full_gateway().await;
    let mut waiting = Vec::new();
    for _ in 0..100 {
        let mut caller = world.connect().await;
        caller.send(MODELS).await;
        waiting.push(caller);
    }
    assert_eq!(world.anonymous_client().get("/healthz").await.status(), 200);
    assert!(waiting.iter().all(|caller| !caller.has_unread()));
}

#[tokio::test]
async fn silent_connections_do_not_block_health_checks() {
    let short = Duration::from_millis(200);
    let world = World::with(|settings| {
        settings.limits.max_connections = 0;
        settings.limits.header_timeout = short;
    })
    .await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(world.connect().await);
    }
    assert_eq!(world.anonymous_client().get("/healthz").await.status(), 200);
    for caller in silent {
        assert_eq!(caller.read_to_end().await, "");
    }
}

#[tokio::test]
async fn long_waiting_request_is_rejected() {
    let short = Duration::from_millis(200);
    let world = World::with(|settings| {
        settings.limits.max_connections = 0;
        settings.limits.header_timeout = short;
    })
    .await;
    let mut caller = world.connect().await;
    caller.send(MODELS).await;
    let heard = caller.read_to_end().await;
    assert!(heard.starts_with("HTTP/1.1 503 "), "{heard}");
    assert!(heard.contains("retry-after: 1\r\n"), "{heard}");
    assert!(heard.contains("connection: close\r\n"), "{heard}");
}

#[tokio::test]
async fn websocket_beyond_the_limit_waits() {
    let (world, first, second) = full_gateway().await;
    let client = world.client();
    let (mut socket, ()) = tokio::join!(client.socket(), async {
        assert_eq!(world.anonymous_client().get("/healthz").await.status(), 200);
        drop((first, second));
    });
    assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
}
