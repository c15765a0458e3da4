//! The access to the metrics.

use super::KeyHash;

/// The access to the metrics, and their labels.
#[derive(Clone, Debug, Default)]
pub struct MetricsSettings {
    /// The operator's key to `GET /metrics` of the main listener. Without one, only a listener of
    /// its own has the route.
    pub key: Option<KeyHash>,
    /// Whether turns, tokens and cost are also counted by tenant.
    pub names_tenants: bool,
}
