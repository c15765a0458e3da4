//! Bodies that are sent compressed.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use serde_json::json;

use crate::support::{Answer, MODEL, World, ask};

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

async fn posted(world: &World, path: &str, encoding: &str, body: Vec<u8>) -> Answer {
    let client = world.client().with_header("content-encoding", encoding);
    Answer::read(client.send(Method::POST, path, body).await).await
}

#[tokio::test]
async fn gzip_is_read_on_every_route() {
    let world = World::new().await;
    let body = gzip(ask("Hello").body().to_string().as_bytes());
    let answer = posted(&world, "/v1/responses", "gzip", body.clone()).await;
    assert_eq!(answer.json()["status"], "completed");
    assert_eq!(world.last_view().await, ["user: Hello"]);
    assert_eq!(posted(&world, "/v1/responses/input_tokens", "gzip", body).await.status(), 200);
    let metadata = gzip(br#"{"metadata":{"a":"b"}}"#);
    let made = posted(&world, "/v1/conversations", "gzip", metadata).await;
    assert_eq!(made.json()["metadata"]["a"], "b");
}

#[tokio::test]
async fn body_too_long_after_decoding_is_rejected() {
    let world = World::with(|settings| settings.limits.max_body_bytes = 100_000).await;
    let bomb = gzip(&vec![b' '; 100 << 20]);
    assert!(bomb.len() < 200_000);
    let short_bomb = gzip(&vec![b' '; 200_000]);
    for body in [bomb, short_bomb] {
        let refused = posted(&world, "/v1/responses", "gzip", body).await.refused();
        assert_eq!(refused.status, 413);
        assert_eq!(refused.body["error"]["code"], "request_too_large");
    }
}

#[tokio::test]
async fn invalid_and_unknown_encodings_are_rejected() {
    let world = World::new().await;
    let refused = posted(&world, "/v1/responses", "gzip", b"{}".to_vec()).await.refused();
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["code"], "invalid_content_encoding");
    for encoding in ["br", "zstd", "gzip, gzip"] {
        let refused = posted(&world, "/v1/responses", encoding, b"{}".to_vec()).await.refused();
        assert_eq!(refused.status, 415, "{encoding}");
        assert_eq!(refused.body["error"]["code"], "unsupported_content_encoding");
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn passed_body_keeps_its_encoding() {
    let world = World::new().await;
    let body = gzip(json!({"model": MODEL, "input": "Hello"}).to_string().as_bytes());
    posted(&world, "/v1/embeddings", "gzip", body.clone()).await;
    let came = world.request(0).await;
    assert_eq!(came.headers["content-encoding"], "gzip");
    assert_eq!(came.headers["content-length"], body.len().to_string());

    let deep = gzip(format!("{}{}", "[".repeat(200), "]".repeat(200)).as_bytes());
    assert_eq!(posted(&world, "/v1/embeddings", "gzip", deep).await.status(), 400);
    posted(&world, "/v1/embeddings", "br", b"{}".to_vec()).await;
    assert_eq!(world.times_asked(), 2);
}
