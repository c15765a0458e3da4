//! What the browser of an allowed page is told.

use antiphon_gateway::settings::{ApiKey, Origin};
use antiphon_store::Tenant;
use http::{HeaderMap, Method, StatusCode};

use crate::support::{Client, MODEL, World, ask};

const APP: &str = "https://app.example";

async fn with_app() -> World {
    let app = Origin::parse(APP).expect("it is an origin");
    World::with(|settings| settings.allowed_origins = vec![app]).await
}

fn page(world: &World) -> Client {
    world.client().with_header("origin", APP).with_header("sec-fetch-site", "cross-site")
}

async fn preflight(client: Client, path: &str) -> (StatusCode, HeaderMap) {
    let client = client
        .with_header("access-control-request-method", "POST")
        .with_header("access-control-request-headers", "authorization,content-type,openai-beta")
        .with_header("access-control-request-private-network", "true");
    let (head, _) = client.send(Method::OPTIONS, path, "").await.into_parts();
    (head.status, head.headers)
}

#[tokio::test]
async fn allowed_page_may_send_any_header() {
    let world = with_app().await;
    for path in ["/v1/responses", "/v1/conversations", "/v1/embeddings", "/healthz"] {
        let (status, headers) = preflight(page(&world), path).await;
        assert_eq!(status, 204, "{path}");
        assert_eq!(headers["access-control-allow-origin"], APP);
        assert_eq!(headers["access-control-allow-methods"], "GET, HEAD, POST, PUT, PATCH, DELETE");
        let wanted = "authorization,content-type,openai-beta";
        assert_eq!(headers["access-control-allow-headers"], wanted);
        assert_eq!(headers["access-control-allow-private-network"], "true");
        assert!(headers["vary"].to_str().unwrap().starts_with("origin"), "{headers:?}");
        assert!(!headers.contains_key("access-control-allow-credentials"));
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn allowed_page_may_read_answers() {
    let world = with_app().await;
    let answer =
        page(&world).send(Method::POST, "/v1/responses", ask("Hello").body().to_string()).await;
    assert_eq!(answer.status(), 200);
    let headers = answer.headers();
    assert_eq!(headers["access-control-allow-origin"], APP);
    assert_eq!(headers["vary"], "origin");
    let exposed = headers["access-control-expose-headers"].to_str().unwrap();
    let ours = headers.keys().filter(|name| name.as_str().starts_with("antiphon-"));
    ours.for_each(|name| assert!(exposed.contains(name.as_str()), "{name} in {exposed}"));
    assert!(exposed.contains("content-type"), "{exposed}");
    assert!(exposed.contains("x-request-id") && headers.contains_key("x-request-id"));
}

#[tokio::test]
async fn allowed_page_may_read_errors() {
    let world = with_app().await;
    let missing = page(&world).get("/v1/responses/resp_x").await;
    assert_eq!(missing.status(), 404);
    assert_eq!(missing.header("access-control-allow-origin"), Some(APP));
}

#[tokio::test]
async fn allowed_page_needs_a_configured_key() {
    let (app, key) = (Origin::parse(APP).unwrap(), ApiKey::new("sk-of-acme", Tenant::new("acme")));
    let world = World::with(|settings| {
        settings.allowed_origins = vec![app];
        settings.api_keys = vec![key];
    })
    .await;
    let from = |origin| world.anonymous_client().with_header("origin", origin);
    assert_eq!(preflight(from(APP), "/v1/responses").await.0, 204);
    assert_eq!(preflight(from("https://evil.example"), "/v1/embeddings").await.0, 401);
    let refused = from(APP).get("/v1/models").await;
    assert_eq!((refused.status(), refused.header("access-control-allow-origin")), (401, Some(APP)));
    let answered = world.caller("sk-of-acme").with_header("origin", APP).get("/v1/models").await;
    assert_eq!(answered.status(), 200);
}

#[tokio::test]
async fn programs_get_no_cors_headers() {
    let world = with_app().await;
    let answer = world.client().get("/v1/models").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("vary"), Some("origin"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn allowed_page_may_open_a_websocket() {
    let world = with_app().await;
    let mut page = world.connect().await;
    page.send(&format!(
        "GET /v1/responses HTTP/1.1\r\nhost: app.example\r\norigin: {APP}\r\n\
         connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ))
    .await;
    page.read_until("101 Switching Protocols").await;
}

#[tokio::test]
async fn cors_headers_of_an_upstream_are_replaced() {
    let world = with_app().await;
    let reply = antiphon_mock::Reply::new(StatusCode::OK, "application/json", "{}")
        .header("access-control-allow-origin", "*")
        .header("access-control-allow-credentials", "true");
    world.script(reply);
    let body = format!(r#"{{"model":"{MODEL}","input":"Hello"}}"#);
    let answer = page(&world).send(Method::POST, "/v1/embeddings", body).await;
    assert_eq!(answer.headers()["access-control-allow-origin"], APP);
    assert!(!answer.headers().contains_key("access-control-allow-credentials"));
}
