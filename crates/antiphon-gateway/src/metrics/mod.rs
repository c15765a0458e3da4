//! The metrics of a gateway. One registry is read by every exporter.
//!
//! Counting is a look-up of a series and a few atomic operations; it allocates only for the first
//! value of a series. The labels are bounded: upstreams, routes and faults by the settings and the
//! code, and all others by a maximum, after which values are counted together as `other`.
//!
//! `docs/metrics.md` lists all metrics.

mod families;
mod gauge;
mod label;
mod open;
mod process;
mod queue;
mod store;
mod turns;
mod upstreams;
mod webhooks;

use std::sync::Arc;

use prometheus::proto::MetricFamily;
use prometheus::{IntCounter, IntCounterVec, IntGauge, Registry, TextEncoder};

use self::families::{Families, counter, counters, gauge, gauges};
pub(crate) use self::gauge::{Counted, OpenGauge};
pub(crate) use self::open::Open;
use self::process::ProcessMetrics;
pub(crate) use self::queue::{QueueMetrics, QueueWait};
use self::store::StoreMetrics;
pub(crate) use self::turns::{CountedTurn, ItemCounts, TurnMetrics};
pub(crate) use self::upstreams::{UpstreamCounters, UpstreamMetrics};
pub(crate) use self::webhooks::WebhookMetrics;

/// The metrics of a gateway.
pub(crate) struct Metrics {
    registry: Registry,
    process: ProcessMetrics,
    pub(crate) turns: TurnMetrics,
    pub(crate) upstreams: UpstreamMetrics,
    pub(crate) queue: QueueMetrics,
    /// Things that are open now.
    pub(crate) open: Open,
    /// Requests with an answer, by route and status.
    pub(crate) requests: IntCounterVec,
    /// Requests without a valid key.
    pub(crate) refused_callers: IntCounter,
    pub(crate) webhooks: WebhookMetrics,
    store: Arc<StoreMetrics>,
    store_is_writable: IntGauge,
}

/// The values that are read when the metrics are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The work of the store; `None` if it does not report it.
    pub(crate) store: Option<antiphon_store::StoreLoad>,
    /// Whether the last write to the store succeeded.
    pub(crate) store_is_writable: bool,
}

impl Metrics {
    /// Creates all metrics. Tenants are named only if `names_tenants` is set.
    pub(crate) fn new(names_tenants: bool) -> Self {
        let families = Families::default();
        let metrics = Self::register(&families, names_tenants);
        Self { registry: families.into_registry(), ..metrics }
    }

    fn register(to: &Families, names_tenants: bool) -> Self {
        let build = gauges(to, "antiphon_build_info", "The version: always 1.", &["version"]);
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        Self {
            process: ProcessMetrics::new(to),
            turns: TurnMetrics::new(to, names_tenants),
            upstreams: UpstreamMetrics::new(to),
            queue: QueueMetrics::new(to),
            open: Open::new(to),
            requests: counters(
                to,
                "antiphon_http_requests_total",
                "Requests with an answer. Those without a route of the gateway are 'other'.",
                &["route", "status"],
            ),
            refused_callers: counter(
                to,
                "antiphon_refused_callers_total",
                "Requests without a valid API key (status 401).",
            ),
            webhooks: WebhookMetrics::new(to),
            store: Arc::new(StoreMetrics::new(to)),
            store_is_writable: gauge(
                to,
                "antiphon_store_writable",
                "Whether the last write to the store succeeded: 1 or 0.",
            ),
            registry: Registry::default(),
        }
    }

    /// The observer of a store.
    pub(crate) fn store_observer(&self) -> Arc<dyn antiphon_store::StoreObserver> {
        Arc::clone(&self.store) as _
    }

    /// All series with their current values.
    pub(crate) fn gather(&self, sample: Sample) -> Vec<MetricFamily> {
        if let Some(load) = sample.store {
            self.store.set_load(load);
        }
        self.store_is_writable.set(sample.store_is_writable.into());
        self.process.update();
        self.registry.gather()
    }

    /// All series in the text format of Prometheus.
    pub(crate) fn to_text(&self, sample: Sample) -> String {
        let families = self.gather(sample);
        TextEncoder::new().encode_to_string(&families).expect("families have valid names")
    }
}

#[cfg(test)]
mod tests;
