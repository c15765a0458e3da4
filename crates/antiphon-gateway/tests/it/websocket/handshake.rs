//! How a WebSocket is opened.

use antiphon_gateway::settings::ApiKey;
use antiphon_store::Tenant;
use http::{Method, StatusCode};

use crate::support::{Answer, Client, Raw, SIM, World, ask};

fn asking(client: Client, version: &str) -> Client {
    client
        .with_header("connection", "upgrade")
        .with_header("upgrade", "websocket")
        .with_header("sec-websocket-version", version)
        .with_header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

#[tokio::test]
async fn plain_get_is_a_wrong_method() {
    let world = World::new().await;
    let answer = world.client().get("/v1/responses").await;
    assert_eq!(answer.status(), 405);
}

#[tokio::test]
async fn wrong_version_gets_the_supported_one() {
    let world = World::new().await;
    let client = asking(world.client(), "8");

    let answer = client.send(Method::GET, "/v1/responses", "").await;

    assert_eq!(answer.status(), StatusCode::UPGRADE_REQUIRED);
    assert_eq!(answer.headers()["sec-websocket-version"], "13");
    assert_eq!(Answer::read(answer).await.refused().body["error"]["type"], "invalid_request_error");
}

#[tokio::test]
async fn upgrade_without_a_key_is_rejected() {
    let key = ApiKey::new("sk-of-acme", Tenant::new("acme"));
    let world = World::with(|settings| settings.api_keys = vec![key]).await;

    let answer =
        asking(world.caller("sk-of-nobody"), "13").send(Method::GET, "/v1/responses", "").await;
    assert_eq!(answer.status(), 401);

    let mut socket = world.caller("sk-of-acme").socket().await;
    assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
}

#[tokio::test]
async fn foreign_origin_cannot_open_a_websocket() {
    let world = World::new().await;
    for origin in ["https://evil.example", "http://127.0.0.1:1", "null"] {
        let client = asking(world.client(), "13").with_header("origin", origin);

        let answer = client.send(Method::GET, "/v1/responses", "").await;

        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{origin}");
        let refused = Answer::read(answer).await.refused();
        assert_eq!(refused.body["error"]["code"], "foreign_origin");
    }
}

#[tokio::test]
async fn own_origin_can_open_a_websocket() {
    let world = World::new().await;
    let mut page: Raw = world.connect().await;
    page.send(
        "GET /v1/responses HTTP/1.1\r\nhost: localhost:8080\r\norigin: http://localhost:8080\r\n\
         connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    .await;
    page.read_until("101 Switching Protocols").await;
}

#[tokio::test]
async fn websocket_counts_as_a_connection() {
    let world = World::with(|settings| settings.limits.max_connections = 1).await;
    let mut socket = world.client().socket().await;
    socket.turn(&ask("Hello").model(SIM)).await;
    let mut waiting: Raw = world.connect().await;
    waiting.send("GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    socket.turn(&ask("Hello again").model(SIM)).await;
    assert!(!waiting.has_unread(), "it waits to be accepted");

    drop(socket);

    waiting.read_until("HTTP/1.1 200 OK\r\n").await;
}
