//! How many connections may be open.

use crate::support::{Raw, World};

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Asks on a connection that stays open.
async fn lives(caller: &mut Raw) {
    caller.say(HEALTH).await;
    assert!(caller.hear("\r\n\r\nok").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn one_connection_too_many_waits_until_another_ends() {
    let world = World::with(|settings| settings.limits.max_connections = 2).await;
    let (mut first, mut second) = (world.connect().await, world.connect().await);
    lives(&mut first).await;
    lives(&mut second).await;

    let mut third = world.connect().await;
    third.say(HEALTH).await;
    for _ in 0..10 {
        lives(&mut first).await;
        assert!(!third.has_heard());
    }

    drop(second);
    third.hear("\r\n\r\nok").await;
}
