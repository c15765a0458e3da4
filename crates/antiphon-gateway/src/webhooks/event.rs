//! The body of a webhook event.

use antiphon::IdSource;
use bytes::Bytes;
use serde_json::json;

use crate::entropy::RandomIds;
use crate::settings::WebhookEvent;

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
