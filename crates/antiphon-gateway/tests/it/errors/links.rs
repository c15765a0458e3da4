//! The pages about faults, and the links of errors to them.

use antiphon::faults::PAGES;
use antiphon_gateway::settings::{ApiKey, Faults, Origin};
use antiphon_mock::Reply;
use antiphon_store::Tenant;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{MODEL, MODES, World, ask, create, not_found, output};

const UNANSWERED: &str = "No tool output found for function call call_1.";
const LINK: &str = r#"</faults/unanswered_call>; rel="help""#;

fn error(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": "input",
        "code": ""}, "weight": 1.50})
}

#[tokio::test]
async fn pages_need_no_key() {
    let world = World::with(|settings| {
        settings.api_keys = vec![ApiKey::new("key", Tenant::new("acme"))];
    })
    .await;
    let client = world.anonymous_client();
    for page in PAGES {
        let answer = client.get(&format!("/faults/{}", page.name)).await;
        assert_eq!(answer.status(), 200, "{}", page.name);
        assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
        assert_eq!(*answer.body(), page.text);
    }
    let repair = client.get("/faults/adapted_field").await;
    assert!(repair.body().starts_with(b"# adapted_field\n"));
    let unknown = not_found(None, "Fault with name '../duplicate_item' not found.");
    assert_eq!(client.get("/faults/..%2Fduplicate_item").await.refused(), unknown);
    for path in ["/faults/", "/faults/unanswered_call/x"] {
        let expected = not_found(None, &format!("Invalid URL (GET {path})"));
        assert_eq!(client.get(path).await.refused(), expected);
    }
}

#[tokio::test]
async fn own_error_is_linked() {
    let world = World::with(|settings| settings.faults = Faults::Reject).await;
    let client = world.client();
    for mode in MODES {
        let orphan = ask(json!([output(&json!("call_9"), "x")]));
        let answer = client.create(mode, &orphan).await;
        assert_eq!(answer.status(), 400);
        let link = r#"</faults/output_without_call>; rel="help""#;
        assert_eq!(answer.header("link"), Some(link), "{mode:?}");

        let lost = client.create(mode, &ask("Hello").after("resp_unknown")).await;
        let link = r#"</faults/previous_response_not_found>; rel="help""#;
        assert_eq!(lost.header("link"), Some(link), "{mode:?}");

        let other = client.create(mode, &ask("Hello").field("temperature", json!("hot"))).await;
        assert_eq!((other.status(), other.header("link")), (400, None));
        let answered = client.create(mode, &ask("Hello")).await;
        assert_eq!((answered.status(), answered.header("link")), (200, None));
    }
}

#[tokio::test]
async fn linked_rejection_keeps_its_body() {
    let world = World::new().await;
    let client = world.client();
    for mode in MODES {
        let body = error(UNANSWERED);
        world.script(Reply::json(StatusCode::BAD_REQUEST, &body));
        let answer = client.create(mode, &ask("Hello")).await;
        assert_eq!(answer.status(), 400);
        assert_eq!(answer.header("link"), Some(LINK), "{mode:?}");
        assert_eq!(*answer.body(), body.to_string());
    }
}

#[tokio::test]
async fn linked_passed_error_keeps_its_body() {
    let world = World::new().await;
    let client = world.client();
    let request = json!({"model": MODEL, "input": "Hello"});
    for (body, link) in [
        (error(UNANSWERED), Some(LINK)),
        (error("Slow down."), None),
        (error(&format!("{UNANSWERED}{}", " ".repeat(1 << 17))), None),
    ] {
        world.script(Reply::json(StatusCode::BAD_REQUEST, &body));
        let answer = client.post("/v1/embeddings", &request).await;
        assert_eq!(answer.status(), 400);
        assert_eq!(answer.header("link"), link);
        assert_eq!(*answer.body(), body.to_string());
    }
}

#[tokio::test]
async fn anthropic_error_is_linked() {
    let world = World::new().await;
    let client = world.client().with_header("antiphon-conversation", "conv_none");
    let client = client.with_header("anthropic-version", "2023-06-01");
    let messages = json!([{"role": "user", "content": "Hello"}]);
    let body = json!({"model": MODEL, "max_tokens": 100, "messages": messages});
    world.script(Reply::json(StatusCode::BAD_REQUEST, &error(UNANSWERED)));
    let unnamed = world.client().with_header("anthropic-version", "2023-06-01");
    let answer = unnamed.post("/v1/messages", &body).await;
    assert_eq!((answer.status(), answer.header("link")), (400, Some(LINK)));
    let body: Value = serde_json::from_slice(answer.body()).expect("it is JSON");
    assert_eq!(body["type"], "error");
    assert_eq!(client.post("/v1/messages", &body).await.header("link"), None);
}

#[tokio::test]
async fn websocket_error_is_linked() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    socket.send(&create(&ask("Hello").after("resp_unknown"))).await;
    let error = socket.error().await;
    let link = r#"</faults/previous_response_not_found>; rel="help""#;
    assert_eq!(error["headers"]["link"], link);
}

#[tokio::test]
async fn allowed_page_may_read_the_link() {
    let app = Origin::parse("https://app.example").expect("it is an origin");
    let world = World::with(|settings| settings.allowed_origins = vec![app]).await;
    let page = world.client().with_header("origin", "https://app.example");
    let body = ask("Hello").after("resp_unknown").body().to_string();
    let answer = page.send(Method::POST, "/v1/responses", body).await;
    let exposed = answer.headers()["access-control-expose-headers"].to_str().expect("it is text");
    assert!(answer.headers().contains_key("link"));
    assert!(exposed.split(", ").any(|name| name == "link"), "{exposed}");
}
