//! The deliveries of webhooks.

use prometheus::IntCounter;

use super::families::{Families, counters};

/// Attempts to deliver a webhook.
#[derive(Debug)]
pub(crate) struct WebhookMetrics {
    /// The endpoint accepted the event.
    pub(crate) delivered: IntCounter,
    /// The attempt failed; another one follows.
    pub(crate) failed: IntCounter,
    /// The last attempt failed, or the endpoint is gone.
    pub(crate) dropped: IntCounter,
}

impl WebhookMetrics {
    pub(super) fn new(to: &Families) -> Self {
        let attempts = counters(
            to,
            "antiphon_webhook_attempts_total",
            "Attempts to deliver a webhook: delivered, failed or dropped. An event is dropped \
             after the last attempt.",
            &["outcome"],
        );
        let of = |outcome| attempts.with_label_values(&[outcome]);
        Self { delivered: of("delivered"), failed: of("failed"), dropped: of("dropped") }
    }
}
