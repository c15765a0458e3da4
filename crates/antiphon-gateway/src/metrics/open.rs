//! The numbers of things that are open now.

use prometheus::IntGauge;

use super::families::{Families, gauge};
use super::gauge::OpenGauge;

/// The numbers of things that are open now.
pub(crate) struct Open {
    /// Turns that have not ended, including those that wait.
    pub(crate) turns: OpenGauge,
    /// Background responses that this process runs.
    pub(crate) background: OpenGauge,
    pub(crate) websockets: OpenGauge,
    /// The connections of callers within the limit.
    pub(crate) connections: OpenGauge,
    pub(crate) max_connections: IntGauge,
}

impl Open {
    pub(super) fn new(to: &Families) -> Self {
        let new = |name, help| OpenGauge(gauge(to, name, help));
        Self {
            turns: new(
                "antiphon_turns_open",
                "Turns that have not ended, including those that wait.",
            ),
            background: new(
                "antiphon_background_responses_open",
                "Background responses that this process runs.",
            ),
            websockets: new("antiphon_websockets_open", "Open WebSockets."),
            connections: new("antiphon_connections_open", "Open connections of callers."),
            max_connections: gauge(
                to,
                "antiphon_connections_max",
                "The maximum number of connections: max-connections of the settings.",
            ),
        }
    }
}
