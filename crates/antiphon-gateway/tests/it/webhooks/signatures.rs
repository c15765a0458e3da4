//! What an endpoint knows our messages by, checked as an endpoint would.

use antiphon_gateway::entropy::unix_now;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::Value;

use super::outbox::Outbox;
use crate::support::{Received, Receiver, WEBHOOK_SECRET as SECRET};

/// Whether the signature is of this secret. Source: Standard Webhooks.
fn is_signed(secret: &str, id: &str, timestamp: &str, body: &[u8], signature: &str) -> bool {
    let key = STANDARD.decode(secret.trim_start_matches("whsec_")).expect("it is base64");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
    let signature = signature.strip_prefix("v1,").expect("it is of the first version");
    let signature = STANDARD.decode(signature).expect("it is base64");
    hmac::verify(&key, &signed, &signature).is_ok()
}

fn is_signed_by_gateway(received: &Received) -> bool {
    let [id, timestamp, signature] =
        ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| received.header(name));
    is_signed(SECRET, id, timestamp, &received.body, signature)
}

#[test]
fn published_example_is_verified() {
    let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
    let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assert!(is_signed(SECRET, id, "1614265330", body, signature));
    assert!(!is_signed(SECRET, id, "1614265331", body, signature));
}

#[tokio::test]
async fn message_is_signed_and_typed() {
    let outbox = Outbox::new().await;
    let mut receiver = Receiver::answering([]).await;
    let id = outbox.commit(&[&receiver.url]).await;

    let _running = outbox.serve(vec![receiver.webhook()]).await;
    let received = receiver.next().await;

    assert!(is_signed_by_gateway(&received), "{received:?}");
    assert_eq!(received.id(), id);
    assert_eq!(received.header("content-type"), "application/json");
    let body: Value = serde_json::from_slice(&received.body).expect("it is JSON");
    assert_eq!(body["id"], id);
    let told_at: i64 = received.header("webhook-timestamp").parse().expect("it is a number");
    assert!((unix_now() - told_at).abs() < 60);

    let mut forged = received;
    forged.body = [&forged.body[..], b" "].concat().into();
    assert!(!is_signed_by_gateway(&forged));
}
