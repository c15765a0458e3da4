//! Creates metrics and registers them.

use std::cell::RefCell;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{
    Counter, CounterVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec,
    IntGauge, IntGaugeVec, Opts, Registry,
};

/// Times of model calls, in seconds: from a cached answer to an hour of reasoning.
pub(super) const CALL_SECONDS: [f64; 14] =
    [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 600.0, 3600.0];

/// Times of work without a model, in seconds.
pub(super) const WORK_SECONDS: [f64; 13] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

const VALID: &str = "the name is valid and occurs once";

/// The metrics of one registry.
#[derive(Default)]
pub(super) struct Families {
    registry: Registry,
    /// Each metric, with a family that shows its type.
    described: RefCell<Vec<(Desc, MetricFamily)>>,
}

impl Families {
    /// The registry, once all metrics are in it.
    pub(super) fn into_registry(self) -> Registry {
        self.registry
    }

    /// The metrics, each with a family that shows its type.
    #[cfg(test)]
    pub(super) fn described(&self) -> Vec<(Desc, MetricFamily)> {
        self.described.borrow().clone()
    }

    fn register<C: Collector + Clone + 'static>(&self, metric: prometheus::Result<C>) -> C {
        let metric = metric.expect(VALID);
        let described = metric.desc().into_iter().cloned().zip(metric.collect());
        self.described.borrow_mut().extend(described);
        self.registry.register(Box::new(metric.clone())).expect(VALID);
        metric
    }
}

pub(super) fn counter(to: &Families, name: &str, help: &str) -> IntCounter {
    to.register(IntCounter::new(name, help))
}

pub(super) fn counters(to: &Families, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    to.register(IntCounterVec::new(Opts::new(name, help), labels))
}

/// Counters of fractions.
pub(super) fn sums(to: &Families, name: &str, help: &str, labels: &[&str]) -> CounterVec {
    to.register(CounterVec::new(Opts::new(name, help), labels))
}

pub(super) fn gauge(to: &Families, name: &str, help: &str) -> IntGauge {
    to.register(IntGauge::new(name, help))
}

pub(super) fn gauges(to: &Families, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    to.register(IntGaugeVec::new(Opts::new(name, help), labels))
}

/// A counter of fractions.
pub(super) fn sum(to: &Families, name: &str, help: &str) -> Counter {
    to.register(Counter::new(name, help))
}

pub(super) fn histogram(to: &Families, name: &str, help: &str, buckets: &[f64]) -> Histogram {
    let opts = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    to.register(Histogram::with_opts(opts))
}

pub(super) fn histograms(
    to: &Families,
    (name, help): (&str, &str),
    labels: &[&str],
    buckets: &[f64],
) -> HistogramVec {
    let opts = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    to.register(HistogramVec::new(opts, labels))
}
