//! What is asked of a provider on its other routes reaches it as it came, and so does its answer.

use http::Method;
use serde_json::{Value, json};

use super::world::World;
use crate::support::{Answer, Client, ask, text, typed_user};

/// A turn of a conversation of the provider: the paths of both, and of an item.
struct ProviderObjects {
    conversation: String,
    response: String,
    item: String,
}

impl ProviderObjects {
    async fn create(world: &World) -> Self {
        let conversation = world.client().new_conversation().await;
        let asked = ask([typed_user("My dog is Rex.")]).within(&conversation);
        let turn = world.client().respond(&asked).await;
        let conversation = format!("/v1/conversations/{conversation}");
        let item = format!("{conversation}/items/{}", text(&turn.item("message")["id"]));
        Self { conversation, response: format!("/v1/responses/{}", turn.id()), item }
    }
}

/// The status and body of an answer to this client.
async fn receive(client: &Client, method: &Method, path: &str, body: &str) -> (u16, String) {
    let answer = client.send(method.clone(), path, body.to_owned()).await;
    let answer = Answer::read(answer).await;
    (answer.status(), String::from_utf8_lossy(answer.body()).into_owned())
}

async fn assert_the_providers(world: &World, method: &Method, path: &str, body: &str) {
    let through = receive(&world.client(), method, path, body).await;
    let past = receive(&world.past_gateway(), method, path, body).await;
    assert_eq!(through, past, "{method} {path} {body}");
}

#[tokio::test]
async fn shown_objects_equal_the_providers() {
    let world = World::new().await;
    let ProviderObjects { conversation, response, item } = ProviderObjects::create(&world).await;
    for path in [
        conversation.clone(),
        format!("{conversation}/items"),
        format!("{conversation}/items?order=asc&limit=1"),
        format!("{conversation}/items?include[]=reasoning.encrypted_content&limit=100"),
        item.clone(),
        response.clone(),
        format!("{response}?include=message.output_text.logprobs"),
        format!("{response}/input_items?order=asc"),
    ] {
        assert_the_providers(&world, &Method::GET, &path, "").await;
        assert_eq!(world.client().get(&path).await.status(), 200, "{path}");
    }
}

#[tokio::test]
async fn rejections_are_the_providers() {
    let world = World::new().await;
    let ProviderObjects { conversation, response, .. } = ProviderObjects::create(&world).await;
    let items = format!("{conversation}/items");
    for (method, path, body) in [
        (Method::GET, format!("{items}?limit=1000"), ""),
        (Method::GET, format!("{items}/msg_of_nobody"), ""),
        (Method::GET, "/v1/conversations/conv_of_nobody".to_owned(), ""),
        (Method::GET, "/v1/responses/resp_of_nobody/input_items".to_owned(), ""),
        (Method::POST, items.clone(), r#"{"items": 7}"#),
        (Method::POST, items.clone(), "{"),
        (Method::POST, conversation.clone(), "{}"),
        (Method::POST, format!("{response}/cancel"), ""),
        (Method::POST, "/v1/conversations".to_owned(), r#"{"items": 7}"#),
        (Method::DELETE, format!("{items}/msg_of_nobody"), ""),
        (Method::DELETE, "/v1/conversations/conv_of_nobody".to_owned(), ""),
        (Method::DELETE, "/v1/responses/resp_of_nobody".to_owned(), ""),
    ] {
        assert_the_providers(&world, &method, &path, body).await;
        let (status, _) = receive(&world.client(), &method, &path, body).await;
        assert!((400..500).contains(&status), "{method} {path} {body}: {status}");
    }
}

#[tokio::test]
async fn requests_reach_the_provider_unchanged() {
    let world = World::new().await;
    let ProviderObjects { conversation, .. } = ProviderObjects::create(&world).await;
    let body = "{ \"metadata\" : {\"n\":\"1e2\"} ,\n \"metadata\":{\"a\":\"\\u0062\"} }";
    let changed = world.client().post_raw(&conversation, body).await.json();
    assert_eq!(changed["metadata"], json!({"a": "b"}));
    let seen = world.provider.requests().pop().expect("it came");
    assert_eq!((seen.size, seen.path), (body.len(), conversation.clone()));

    world.client().get(&format!("{conversation}/items?limit=1&%6Frder=asc&x")).await;
    let seen = world.provider.requests().pop().expect("it came");
    assert_eq!(seen.query.as_deref(), Some("limit=1&%6Frder=asc&x"));
}

#[tokio::test]
async fn impossible_ids_cause_no_request() {
    let world = World::new().await;
    let ProviderObjects { conversation, .. } = ProviderObjects::create(&world).await;
    let before = world.provider.requests().len();
    for path in [
        "/v1/conversations/..%2Fresponses".to_owned(),
        "/v1/conversations/%2e%2e/items".to_owned(),
        "/v1/responses/resp_1%3Fstream=true".to_owned(),
        format!("{conversation}/items/%2e%2e"),
        format!("{conversation}/items/..%2F..%2Fx"),
    ] {
        for method in [Method::GET, Method::DELETE] {
            let (status, _) = receive(&world.client(), &method, &path, "").await;
            assert!([404, 405].contains(&status), "{method} {path}: {status}");
        }
    }
    assert_eq!(world.provider.requests().len(), before);
}

#[tokio::test]
async fn gateway_reports_the_repairs() {
    let world = World::new().await;
    let ProviderObjects { response, .. } = ProviderObjects::create(&world).await;
    let report: Value = world.client().get(&format!("{response}/report")).await.json();
    assert!(report.is_object(), "{report}");
    let unknown = world.client().get("/v1/responses/resp_of_nobody/report").await;
    assert_eq!(unknown.status(), 404);
}
