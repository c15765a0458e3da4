//! Who reaches the inspector: listeners, pages and tenants.

use antiphon_gateway::settings::{ApiKey, Inspect};
use antiphon_store::Tenant;
use http::Method;

use crate::support::{Client, Mode, World, ask};

const EVIL: &str = "http://evil.example";

/// The routes of the inspector: its pages, and its data.
const PAGES: [&str; 4] =
    ["/inspect/", "/inspect/assets/app.js", "/inspect/config.json", "/inspect/faults.json"];
const DATA: [&str; 6] = [
    "/inspect/conversations.json",
    "/inspect/refused.json",
    "/inspect/conversations/conv_x.json",
    "/inspect/turns/resp_x.json",
    "/inspect/turns/resp_x/context.json",
    "/inspect/turns/resp_x/lanes/sent.json",
];

async fn status(client: &Client, path: &str) -> u16 {
    client.get(path).await.status()
}

async fn world_with_tenants() -> World {
    World::with(|settings| {
        settings.api_keys = ["ada", "bob"]
            .map(|name| ApiKey::new(&format!("key-{name}"), Tenant::new(name)))
            .to_vec();
    })
    .await
}

#[tokio::test]
async fn inspector_that_is_off_has_no_routes() {
    let world = World::with(|settings| settings.inspect.access = Inspect::Off).await;
    for path in PAGES.into_iter().chain(DATA) {
        assert_eq!(status(&world.client(), path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_are_rejected() {
    for world in [World::with(|_| {}).await, world_with_tenants().await] {
        let page = world.client().clone().with_header("origin", EVIL);
        for path in PAGES.into_iter().chain(DATA) {
            assert_eq!(status(&page, path).await, 403, "{path}");
        }
        let rebound = world.client().clone().with_header("host", "evil.example");
        assert_eq!(status(&rebound, "/inspect/").await, 403);
    }
}

#[tokio::test]
async fn data_needs_the_key_of_its_tenant() {
    let world = world_with_tenants().await;
    let (ada, bob) = (world.caller("key-ada"), world.caller("key-bob"));
    let turn = ada.respond(&ask("Hello")).await;
    let id = turn.id();
    let paths = [
        format!("/inspect/conversations/{id}.json"),
        format!("/inspect/turns/{id}.json"),
        format!("/inspect/turns/{id}/context.json"),
        format!("/inspect/turns/{id}/lanes/sent.json"),
    ];
    for path in &paths {
        assert_eq!(status(&ada, path).await, 200, "{path}");
        assert_eq!(status(&bob, path).await, 404, "{path}");
        assert_eq!(status(&world.caller("key-eve"), path).await, 401, "{path}");
    }
    let list = bob.get("/inspect/conversations.json").await.json();
    assert_eq!(list["data"], serde_json::json!([]));
}

#[tokio::test]
async fn hidden_bodies_are_in_no_answer() {
    let world = World::with(|settings| settings.inspect.shows_bodies = false).await;
    let turn = world.client().respond(&ask("The secret")).await;
    let id = turn.id();
    for path in [
        "/inspect/conversations.json".to_owned(),
        format!("/inspect/conversations/{id}.json"),
        format!("/inspect/turns/{id}.json"),
        format!("/inspect/turns/{id}/lanes/received.json"),
    ] {
        let answer = world.client().get(&path).await;
        assert_eq!(answer.status(), 200, "{path}");
        let text = String::from_utf8_lossy(answer.body()).into_owned();
        assert!(!text.contains("secret"), "{path}: {text}");
    }
    assert_eq!(status(&world.client(), &format!("/inspect/turns/{id}/context.json")).await, 404);
}

#[tokio::test]
async fn routes_only_read() {
    let world = World::with(|_| {}).await;
    for path in PAGES.into_iter().chain(DATA) {
        for method in [Method::POST, Method::DELETE, Method::PUT] {
            let answer = world.client().send(method.clone(), path, "{}").await;
            assert_eq!(answer.status(), 405, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn refused_turns_are_listed_to_their_tenant() {
    let world = world_with_tenants().await;
    let (ada, bob) = (world.caller("key-ada"), world.caller("key-bob"));
    let ada = ada.with_header("x-request-id", "req_of_ada");
    let asked = ask("Hello").after("resp_unknown").field("user", serde_json::json!("u_1"));
    let refused = ada.refused(Mode::Whole, &asked).await;

    let list = ada.get("/inspect/refused.json").await.json();

    let [turn] = &list.as_array().expect("a list")[..] else { panic!("{list}") };
    assert_eq!(turn["request_id"], "req_of_ada");
    assert_eq!(turn["continues"], "resp_unknown");
    assert_eq!(turn["user"], "u_1");
    assert_eq!(turn["code"], "previous_response_not_found");
    assert_eq!(turn["message"], refused.body["error"]["message"]);
    assert_eq!(bob.get("/inspect/refused.json").await.json(), serde_json::json!([]));
}
