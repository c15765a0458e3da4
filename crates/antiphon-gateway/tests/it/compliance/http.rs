//! Requests and answers over HTTP.

use antiphon_gateway::settings::{ApiKey, Secret};
use antiphon_mock::{Answer, Reply};
use antiphon_store::Tenant;
use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{MODEL, MODES, Mode, SIM, World, ask};

/// The answer to this request, as it stands on the wire behind its head.
async fn body_of(world: &World, request: &str) -> String {
    let mut connection = world.connect().await;
    let length = request.len();
    let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n";
    let head = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    connection.send(&format!("{head}{request}")).await;
    let heard = connection.read_to_end().await;
    let (head, body) = heard.split_once("\r\n\r\n").expect("the head ends");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    unchunked(body)
}

/// A body without the lengths of its chunks.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("a chunk has a length");
        whole.push_str(&rest[..length]);
        body = rest[length..].strip_prefix("\r\n").expect("a chunk ends with its line");
    }
    whole
}

#[tokio::test]
async fn stream_events_have_two_lines_and_a_done_mark() {
    let world = World::new().await;
    let request = json!({"model": SIM, "input": "Count from 1 to 5.", "stream": true});

    let body = body_of(&world, &request.to_string()).await;

    let records: Vec<&str> = body.split_terminator("\n\n").collect();
    let (last, events) = records.split_last().unwrap();
    assert_eq!(*last, "data: [DONE]");
    assert!(events.len() > 5, "{body}");
    for event in events {
        let lines: Vec<&str> = event.lines().collect();
        let [name, data] = lines[..] else { panic!("an event has two lines: {event}") };
        let name = name.strip_prefix("event: ").unwrap();
        let data = data.strip_prefix("data: ").unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], name);
    }
}

#[tokio::test]
async fn unstreamed_answers_are_json_on_every_route() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let turn = client.respond(&ask("Hello").within(&conversation)).await;
    let item = turn.output()[0]["id"].as_str().unwrap();
    let paths = [
        format!("/v1/responses/{}", turn.id()),
        format!("/v1/responses/{}/input_items", turn.id()),
        format!("/v1/conversations/{conversation}"),
        format!("/v1/conversations/{conversation}/items"),
        format!("/v1/conversations/{conversation}/items/{item}"),
        "/v1/models".to_owned(),
        "/v1/responses/resp_unknown".to_owned(),
        "/v1/responses/no/thing".to_owned(),
    ];
    for path in paths {
        let answer = client.get(&path).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
        serde_json::from_slice::<serde_json::Value>(answer.body()).unwrap();
    }
}

#[tokio::test]
async fn upstream_errors_are_json() {
    let pages = [
        ("text/html; charset=utf-8", "<html><h1>502 Bad Gateway</h1></html>"),
        ("text/plain", "upstream connect error"),
        ("application/json", "{\"error\": {\"message\": \"cut of"),
        ("application/json", ""),
    ];
    for mode in MODES {
        let world = World::new().await;
        for (content_type, body) in pages {
            for status in [StatusCode::BAD_GATEWAY, StatusCode::FORBIDDEN] {
                world.script(Reply::new(status, content_type, body).header("retry-after", "3"));

                let answer = world.client().create(mode, &ask("Hello")).await;

                assert_eq!(answer.header("retry-after"), Some("3"));
                let refused = answer.refused();
                assert_eq!(refused.status, status.as_u16());
                let message = refused.body["error"]["message"].as_str().unwrap();
                assert!(message.contains(status.as_str()), "{message}");
                assert!(!message.contains("<html>"), "{message}");
                assert!(refused.body["error"]["type"].is_string());
            }
        }
    }
}

#[tokio::test]
async fn rejected_stream_request_gets_json() {
    let world = World::new().await;
    let refused = world.client().create(Mode::Streamed, &ask("Hello").field("tools", 5)).await;
    assert_eq!(refused.header("content-type"), Some("application/json"));
    assert_eq!(refused.status(), 400);
}

#[tokio::test]
async fn request_is_json_with_any_content_type() {
    // Without keys, a body without a type may be any page's.
    let key = Secret::new("sk-of-the-operator");
    let world = World::with(|settings| {
        settings.api_keys = vec![ApiKey::new("sk-of-acme", Tenant::new("acme"))];
        settings.upstreams[0].key = Some(key);
    })
    .await;
    for content_type in ["", "content-type: application/json; charset=utf-8\r\n"] {
        let request = json!({"model": MODEL, "input": "Hello"}).to_string();
        world.script(Reply::sse(Answer::new(MODEL).message("Noted.").frames()));
        let mut connection = world.connect().await;
        let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                    authorization: Bearer sk-of-acme\r\n";
        let length = request.len();
        connection
            .send(&format!("{head}{content_type}content-length: {length}\r\n\r\n{request}"))
            .await;
        let heard = connection.read_to_end().await;
        assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
        assert!(heard.contains("content-type: application/json"), "{heard}");
    }
}

#[tokio::test]
async fn only_the_stream_field_selects_streaming() {
    let world = World::new().await;
    let client = world.client().with_header("accept", "text/event-stream");
    let answer = client.send(Method::POST, "/v1/responses", ask("Hello").body().to_string()).await;
    assert_eq!(answer.headers()["content-type"], "application/json");
}
