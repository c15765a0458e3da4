//! The messages to webhook endpoints: their body and their signature.
//!
//! Source: Standard Webhooks. The signature is an HMAC-SHA256 over the message's id, its timestamp
//! and its body, joined by periods.

use antiphon::IdSource;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ring::hmac;
use serde_json::json;

use crate::entropy::RandomIds;
use crate::settings::{SigningSecret, WebhookEvent};

/// Creates the id and the body of an event. The body names the response by its id only.
pub(super) fn render(event: WebhookEvent, response: &str, now: i64) -> (String, Bytes) {
    let id = RandomIds.issue("evt");
    let event = json!({
        "id": id,
        "object": "event",
        "created_at": now,
        "type": event.name(),
        "data": {"id": response},
    });
    let body = event.to_string().into();
    (id, body)
}

/// The value of `webhook-signature`. `timestamp` is the time of the attempt in Unix seconds.
pub(super) fn sign(secret: &SigningSecret, id: &str, timestamp: i64, body: &[u8]) -> String {
    let mut signing =
        hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    signing.update(format!("{id}.{timestamp}.").as_bytes());
    signing.update(body);
    format!("v1,{}", STANDARD.encode(signing.sign()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from the Standard Webhooks specification.
    #[test]
    fn published_example_has_the_published_signature() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let signature = sign(&secret, id, 1_614_265_330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
