//! Which pages are refused, on every route.

use antiphon_gateway::settings::{ApiKey, HostName, Origin};
use antiphon_store::Tenant;
use http::Method;
use serde_json::json;

use crate::support::{Answer, Client, SIM, World, ask};

const EVIL: &str = "http://evil.example";

/// The routes of the gateway's own, those that pass, and those that nobody has.
const ROUTES: [(&str, &str); 13] = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/openapi.json"),
    ("GET", "/faults/unanswered_call"),
    ("GET", "/v1/models"),
    ("POST", "/v1/responses"),
    ("GET", "/v1/responses/resp_x"),
    ("DELETE", "/v1/conversations/conv_x"),
    ("POST", "/v1/conversations"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/files"),
    ("OPTIONS", "/v1/responses"),
    ("GET", "/nothing"),
];

async fn refused_with(client: &Client, code: &str) {
    for (method, path) in ROUTES {
        let method = Method::from_bytes(method.as_bytes()).expect("it is a method");
        let body = if method == Method::POST { r#"{"model":"sim","input":"Hello"}"# } else { "" };
        let answer = client.send(method, path, body).await;
        assert_eq!(answer.status(), 403, "{path}");
        assert!(!answer.headers().contains_key("access-control-allow-origin"), "{path}");
        let refused = Answer::read(answer).await.refused();
        assert_eq!(refused.body["error"]["code"], code, "{path}");
    }
}

#[tokio::test]
async fn unknown_host_is_rejected_on_every_route() {
    let world = World::new().await;
    for host in ["evil.example", "localhost.evil.example:8484"] {
        refused_with(&world.client().with_header("host", host), "unknown_host").await;
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn foreign_origin_is_rejected_on_every_route() {
    let world = World::new().await;
    for origin in [EVIL, "null", "http://127.0.0.1:1", "https://localhost", ""] {
        refused_with(&world.client().with_header("origin", origin), "foreign_origin").await;
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn page_without_origin_is_rejected_on_every_route() {
    let world = World::new().await;
    for site in ["cross-site", "same-site"] {
        refused_with(&world.client().with_header("sec-fetch-site", site), "foreign_origin").await;
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn loopback_names_are_served() {
    let world = World::new().await;
    for host in ["localhost", "LOCALHOST:9000", "127.0.0.1:80", "[::1]:8484", "a.localhost"] {
        let client = world.client().with_header("host", host);
        assert_eq!(client.respond(&ask("Hello").model(SIM)).await.status(), "completed", "{host}");
    }
    let typed = world.client().with_header("sec-fetch-site", "none");
    assert_eq!(typed.get("/v1/models").await.status(), 200);
}

#[tokio::test]
async fn configured_host_is_served() {
    let world = World::with(|settings| {
        settings.allowed_hosts = vec![HostName::parse("host.docker.internal").unwrap()];
    })
    .await;
    let client = world.client().with_header("host", "host.docker.internal:8484");
    assert_eq!(client.get("/v1/models").await.status(), 200);
}

#[tokio::test]
async fn hosts_and_origins_are_unchecked_with_keys() {
    let key = ApiKey::new("sk-of-acme", Tenant::new("acme"));
    let world = World::with(|settings| settings.api_keys = vec![key]).await;
    let page = |token| {
        let page = world.caller(token).with_header("host", "antiphon.example");
        page.with_header("origin", EVIL).with_header("sec-fetch-site", "cross-site")
    };
    assert_eq!(page("sk-of-acme").get("/v1/models").await.status(), 200);
    assert_eq!(page("sk-of-nobody").get("/v1/models").await.status(), 401);
}

#[tokio::test]
async fn any_host_is_served_with_a_tenant_header() {
    let world =
        World::with(|settings| settings.tenant_header = Some("x-tenant".parse().unwrap())).await;
    let client = world.client().with_header("host", "antiphon.example");
    let client = client.with_header("x-tenant", "acme").with_header("origin", EVIL);
    assert_eq!(client.get("/v1/models").await.status(), 200);
}

#[tokio::test]
async fn rejected_page_changes_nothing() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = format!("/v1/conversations/{conversation}");

    let page = client.clone().with_header("host", "evil.example").with_header("origin", EVIL);
    assert_eq!(page.delete(&path).await.status(), 403);
    let items = json!({"items": [{"role": "user", "content": "Hello"}]});
    assert_eq!(page.post(&format!("{path}/items"), &items).await.status(), 403);

    assert_eq!(client.get(&path).await.status(), 200);
    assert!(client.items(&conversation).await.is_empty());
}

#[tokio::test]
async fn similar_origins_are_rejected() {
    let app = Origin::parse("http://app.example").unwrap();
    let world = World::with(|settings| settings.allowed_origins = vec![app]).await;
    for origin in ["http://app.example.evil", "https://app.example", "http://app.example:81"] {
        refused_with(&world.client().with_header("origin", origin), "foreign_origin").await;
    }
}
