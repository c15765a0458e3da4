//! Every answer and every error has an id by which its request is found in logs and reports.

use antiphon_mock::Reply;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Client, MODES, Mode, World, ask, create, text};

/// The header with the id.
const HEADER: &str = "x-request-id";
/// The header with the id that the upstream gave.
const UPSTREAM: &str = "antiphon-upstream-request-id";

/// The id in the answer to a request.
async fn id_of(client: &Client, method: Method, path: &str, body: &str) -> (u16, String) {
    let answer = client.send(method, path, body.to_owned()).await;
    let id = answer.headers().get(HEADER).expect("the answer has an id");
    (answer.status().as_u16(), id.to_str().expect("it is text").to_owned())
}

/// Requests to each kind of route, with their statuses.
fn requests() -> Vec<(Method, &'static str, &'static str, u16)> {
    vec![
        (Method::GET, "/healthz", "", 200),
        (Method::GET, "/openapi.json", "", 200),
        (Method::GET, "/v1/models", "", 200),
        (Method::POST, "/v1/conversations", "{}", 200),
        (Method::POST, "/v1/responses", r#"{"model":"sim","input":"Hello"}"#, 200),
        (Method::POST, "/v1/responses", r#"{"model":"sim","input":"Hello","stream":true}"#, 200),
        (Method::POST, "/v1/responses", "{", 400),
        (Method::GET, "/v1/responses/resp_unknown", "", 404),
        (Method::GET, "/elsewhere", "", 404),
        (Method::DELETE, "/healthz", "", 405),
        (Method::PATCH, "/v1/responses", "", 405),
    ]
}

#[tokio::test]
async fn every_answer_has_an_id() {
    let world = World::new().await;
    let client = world.client();
    let mut seen = Vec::new();
    for (method, path, body, expected) in requests() {
        let (status, id) = id_of(&client, method.clone(), path, body).await;
        assert_eq!(status, expected, "{method} {path}");
        assert!(id.starts_with("req_"), "{method} {path}: {id}");
        assert!(!seen.contains(&id), "{id} is new");
        seen.push(id);
    }
}

#[tokio::test]
async fn well_formed_id_of_the_caller_is_used() {
    let world = World::new().await;
    let client = world.client().with_header(HEADER, "trace-7:a.b_c");
    for (method, path, body, _) in requests() {
        let (_, id) = id_of(&client, method.clone(), path, body).await;
        assert_eq!(id, "trace-7:a.b_c", "{method} {path}");
    }
}

#[tokio::test]
async fn malformed_id_of_the_caller_is_replaced() {
    let world = World::new().await;
    for wrong in ["", "two words", "a/b", "{\"a\":1}", &"a".repeat(129)] {
        let client = world.client().with_header(HEADER, wrong);
        let (_, id) = id_of(&client, Method::GET, "/v1/models", "").await;
        assert!(id.starts_with("req_"), "{wrong} is replaced by {id}");
    }
}

#[tokio::test]
async fn refused_caller_gets_an_id() {
    let world = World::with(|settings| {
        let acme = antiphon_store::Tenant::new("acme");
        settings.api_keys = vec![antiphon_gateway::settings::ApiKey::new("key-of-acme", acme)];
    })
    .await;
    let client = world.anonymous_client().with_header(HEADER, "mine");
    let (status, id) = id_of(&client, Method::GET, "/v1/models", "").await;
    assert_eq!((status, &*id), (401, "mine"));
}

#[tokio::test]
async fn upstreams_id_has_its_own_header() {
    let world = World::new().await;
    let client = world.client().with_header(HEADER, "mine");
    for mode in MODES {
        let error = json!({"error": {"message": "No.", "type": "x", "param": "", "code": ""}});
        let refusal = Reply::json(StatusCode::BAD_REQUEST, &error).header(HEADER, "req_theirs");
        world.script(refusal);
        let answer = client.create(mode, &ask("Hello")).await;
        assert_eq!(answer.status(), 400);
        assert_eq!(answer.header(HEADER), Some("mine"));
        assert_eq!(answer.header(UPSTREAM), Some("req_theirs"));
    }
    world.script(Reply::json(StatusCode::OK, &json!({})).header(HEADER, "req_theirs"));
    let passed = client.get("/v1/files").await;
    assert_eq!(passed.header(HEADER), Some("mine"));
    assert_eq!(passed.header(UPSTREAM), Some("req_theirs"));
}

#[tokio::test]
async fn report_names_the_request() {
    let world = World::new().await;
    for (mode, id) in MODES.into_iter().zip(["whole-1", "streamed-1"]) {
        let client = world.client().with_header(HEADER, id);
        let turn = client.turn(mode, &ask("Hello")).await;
        assert_eq!(client.report(turn.id()).await["request_id"], id);
    }
}

#[tokio::test]
async fn background_report_names_the_request_that_created_it() {
    let world = World::new().await;
    let creator = world.client().with_header(HEADER, "created-here");
    let answer = creator.create(Mode::Whole, &ask("Hello").field("background", true)).await;
    assert_eq!(answer.header(HEADER), Some("created-here"));
    let response = text(&answer.json()["id"]).to_owned();
    let client = world.client();
    client.wait_until_ended(&response).await;
    assert_eq!(client.report(&response).await["request_id"], "created-here");
}

#[tokio::test]
async fn each_websocket_turn_has_an_id() {
    let world = World::new().await;
    let client = world.client();
    let mut socket = client.socket().await;
    let mut ids: Vec<Value> = Vec::new();
    for _ in 0..2 {
        let turn = socket.turn(&ask("Hello")).await;
        ids.push(client.report(turn.id()).await["request_id"].take());
    }
    socket.send(&create(&ask("Hello").field("model", Value::Null))).await;
    ids.push(socket.error().await["headers"][HEADER].take());
    socket.send(&create(&ask("Hello").after("resp_unknown"))).await;
    ids.push(socket.error().await["headers"][HEADER].take());

    for (index, id) in ids.iter().enumerate() {
        assert!(text(id).starts_with("req_"), "{id}");
        assert!(!ids[..index].contains(id), "{id} is new");
    }
}
