//! Bodies that pass while they come.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{World, soon};

/// A gateway whose upstream is a connection of which the test reads every byte.
async fn raw() -> (World, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port is free");
    let address = listener.local_addr().expect("it is bound");
    let world = World::with(|settings| {
        settings.upstreams[0].url = format!("http://{address}/v1").parse().expect("it is a URL");
    })
    .await;
    (world, listener)
}

/// Reads until these bytes have come.
async fn hear(upstream: &mut TcpStream, text: &str) -> String {
    let mut heard = Vec::new();
    while !heard.ends_with(text.as_bytes()) {
        let byte = soon("the gateway passes on", upstream.read_u8()).await;
        heard.push(byte.expect("the connection is open"));
    }
    String::from_utf8(heard).expect("it is text")
}

#[tokio::test]
async fn body_is_streamed_to_the_upstream() {
    let (world, listener) = raw().await;
    let mut caller = world.connect().await;
    caller
        .send(
            "POST /v1/uploads/u/parts HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\
             content-type: application/octet-stream\r\n\r\nfirst",
        )
        .await;
    let (mut upstream, _) = soon("the upstream is asked", listener.accept()).await.expect("it is");
    let head = hear(&mut upstream, "\r\n\r\nfirst").await;
    assert!(head.starts_with("POST /v1/uploads/u/parts HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("content-length: 9\r\n"), "{head}");

    caller.send("last").await;
    hear(&mut upstream, "last").await;
    upstream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("it is open");
    let heard = caller.read_until("\r\n\r\n").await;
    assert!(heard.starts_with("HTTP/1.1 204 No Content\r\n"), "{heard}");
}

#[tokio::test]
async fn early_answer_passes_at_once() {
    let (world, listener) = raw().await;
    let mut caller = world.connect().await;
    caller
        .send(
            "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\
             content-type: application/octet-stream\r\n\r\nfirst",
        )
        .await;
    let (mut upstream, _) = soon("the upstream is asked", listener.accept()).await.expect("it is");
    hear(&mut upstream, "\r\n\r\nfirst").await;
    let refusal = b"HTTP/1.1 415 Unsupported Media Type\r\ncontent-length: 2\r\n\r\nno";
    upstream.write_all(refusal).await.expect("it is open");
    let heard = caller.read_until("\r\n\r\nno").await;
    assert!(heard.starts_with("HTTP/1.1 415 "), "{heard}");
}

#[tokio::test]
async fn chunked_body_passes_chunked() {
    let (world, listener) = raw().await;
    let mut caller = world.connect().await;
    caller
        .send(
            "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\
             content-type: application/octet-stream\r\n\r\n5\r\nfirst\r\n",
        )
        .await;
    let (mut upstream, _) = soon("the upstream is asked", listener.accept()).await.expect("it is");
    let head = hear(&mut upstream, "first\r\n").await;
    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
    caller.send("0\r\n\r\n").await;
    hear(&mut upstream, "0\r\n\r\n").await;
    drop(upstream);
    let heard = caller.read_until("\r\n\r\n").await;
    assert!(heard.starts_with("HTTP/1.1 502 "), "{heard}");
}
