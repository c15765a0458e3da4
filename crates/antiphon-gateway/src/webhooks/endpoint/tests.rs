use bytes::Bytes;
use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::settings::{Allowed, SigningSecret};

const NOW: i64 = 1_767_225_601;

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn endpoint(url: &str, allow: &[&str]) -> Endpoint {
    let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let mut webhook = Webhook::new(url.parse().unwrap(), secret);
    webhook.allow = allow.iter().map(|text| Allowed::parse(text).unwrap()).collect();
    Endpoint::new(&webhook)
}

async fn send(endpoint: &Endpoint) -> Outcome {
    let body = Bytes::from_static(b"{}");
    let notice = Notice { id: "evt_1".into(), endpoint: String::new(), due_at: NOW, body };
    endpoint.send(&notice, NOW).await
}

/// Accepts one request and sends `answer`. The client may close before it has read all of it.
async fn answer(listener: &TcpListener, answer: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n{}") {
        request.push(char::from(stream.read_u8().await.unwrap()));
    }
    drop(stream.write_all(answer.as_bytes()).await);
    request
}

#[tokio::test]
async fn internal_addresses_are_not_reached_by_any_name() {
    let (listener, port) = listener().await;
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "127.1"] {
        let inside = endpoint(&format!("https://{host}:{port}/"), &["10.0.0.0/8"]);
        assert!(matches!(send(&inside).await, Outcome::Failed(..)), "{host}");
        assert!(listener.accept().now_or_never().is_none(), "{host}");
    }
}

#[tokio::test]
async fn allowed_endpoint_is_reached_by_name_and_address() {
    let (listener, port) = listener().await;
    for (host, allow) in [("127.0.0.1", "127.0.0.0/8"), ("localhost", "localhost")] {
        let allowed = endpoint(&format!("http://{host}:{port}/a?b=c"), &[allow]);
        let (outcome, request) =
            tokio::join!(send(&allowed), answer(&listener, "HTTP/1.1 204 No Content\r\n\r\n"));
        assert_eq!(outcome, Outcome::Delivered);
        assert!(request.starts_with("POST /a?b=c HTTP/1.1\r\n"), "{request}");
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let (listener, port) = listener().await;
    let allowed = endpoint(&format!("http://127.0.0.1:{port}/"), &["127.0.0.0/8"]);
    let elsewhere =
        format!("HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:{port}/b\r\n\r\n");
    let (outcome, _) = tokio::join!(send(&allowed), answer(&listener, &elsewhere));
    assert!(matches!(outcome, Outcome::Failed(..)), "{outcome:?}");
    assert!(listener.accept().now_or_never().is_none());
}

#[tokio::test]
async fn answer_body_is_not_read() {
    let (listener, port) = listener().await;
    let allowed = endpoint(&format!("http://127.0.0.1:{port}/"), &["127.0.0.0/8"]);
    let endless = "HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\nx";
    let (outcome, _) = tokio::join!(send(&allowed), answer(&listener, endless));
    assert_eq!(outcome, Outcome::Delivered);
}

#[tokio::test]
async fn retry_after_of_an_endpoint_is_read() {
    let (listener, port) = listener().await;
    let allowed = endpoint(&format!("http://127.0.0.1:{port}/"), &["127.0.0.0/8"]);
    for (said, wait) in [("retry-after: 7\r\n", Some(Duration::from_secs(7))), ("", None)] {
        let busy = format!("HTTP/1.1 503 Busy\r\n{said}content-length: 0\r\n\r\n");
        let (outcome, _) = tokio::join!(send(&allowed), answer(&listener, &busy));
        let reason = "it answered with status 503 Service Unavailable".to_owned();
        assert_eq!(outcome, Outcome::Failed(reason, wait));
    }
    let gone = "HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n";
    let (outcome, _) = tokio::join!(send(&allowed), answer(&listener, gone));
    assert_eq!(outcome, Outcome::Gone);
}
