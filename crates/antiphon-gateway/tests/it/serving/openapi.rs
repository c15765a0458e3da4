//! What is served, as the gateway describes it.

use http::Method;
use serde_json::Value;

use crate::support::{Answer, World};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A request that passes to an upstream, which may store completions.
const PASSED: (&str, &str) = ("/v1/chat/completions", "get");

/// Every path of the document, with something for what is variable in it, and what it says there.
async fn paths(world: &World) -> Vec<(String, Value)> {
    let document = world.anonymous_client().get("/openapi.json").await.json();
    let paths = document["paths"].as_object().expect("it has paths").clone();
    let filled = |path: &str| {
        let pieces = path.split('/').map(|piece| match piece.split_once('}') {
            Some((_, rest)) => format!("x{rest}"),
            None => piece.to_owned(),
        });
        pieces.collect::<Vec<_>>().join("/")
    };
    paths.into_iter().map(|(path, entry)| (filled(&path), entry)).collect()
}

async fn answer(world: &World, method: &str, path: &str) -> Answer {
    let method: Method = method.to_uppercase().parse().expect("it is a method");
    Answer::read(world.client().send(method, path, "").await).await
}

/// The path, and the paths with the same meaning that the description of the document names.
fn with_azure_paths(path: &str) -> Vec<String> {
    let mut paths = vec![path.to_owned()];
    if let Some(rest) = path.strip_prefix("/v1").filter(|rest| !rest.starts_with("beta")) {
        let base = ["/openai/v1", "/api/projects/p/openai/v1"];
        paths.extend(base.map(|base| format!("{base}{rest}")));
        let is_azures = !rest.starts_with("/messages") && !rest.starts_with("/chat");
        paths.extend(is_azures.then(|| format!("/openai{rest}?api-version=preview")));
    }
    paths
}

#[tokio::test]
async fn described_routes_are_served() {
    let world = World::new().await;
    for (path, entry) in paths(&world).await {
        let described = METHODS.into_iter().filter(|method| entry.get(method).is_some());
        let upgrades = |method: &&str| entry[*method]["responses"].get("101").is_some();
        let passes = |method: &&str| (&*path, *method) == PASSED;
        for method in described.filter(|method| !upgrades(method) && !passes(method)) {
            for path in with_azure_paths(&path) {
                let answer = answer(&world, method, &path).await;
                assert_ne!(answer.status(), 405, "{method} {path}");
                let body = String::from_utf8_lossy(answer.body()).into_owned();
                assert!(!body.contains("Invalid URL"), "{method} {path}: {body}");
            }
        }
    }
    assert_eq!(world.times_asked(), 0, "it is served here");
}

#[tokio::test]
async fn only_described_methods_are_allowed() {
    let world = World::new().await;
    for (path, entry) in paths(&world).await {
        let (described, other): (Vec<&str>, Vec<&str>) =
            METHODS.into_iter().partition(|method| entry.get(method).is_some());
        for method in other {
            let answer = answer(&world, method, &path).await;
            assert_eq!(answer.status(), 405, "{method} {path}");
            let allowed = answer.header("allow").expect("a 405 names what is allowed");
            let allowed = allowed.to_lowercase();
            let mut allowed: Vec<&str> =
                allowed.split(',').map(str::trim).filter(|method| *method != "head").collect();
            allowed.sort_by_key(|method| METHODS.iter().position(|known| known == method));
            assert_eq!(allowed, described, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn document_needs_no_key() {
    let world = World::with(|settings| {
        let key =
            antiphon_gateway::settings::ApiKey::new("key", antiphon_store::Tenant::new("acme"));
        settings.api_keys = vec![key];
    })
    .await;
    let document = world.anonymous_client().get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
}
