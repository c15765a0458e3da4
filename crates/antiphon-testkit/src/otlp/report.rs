//! A report on all traces and metrics, for tests in other languages.

use std::collections::{BTreeMap, BTreeSet};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use serde_json::{Value, json};

use super::check::faults;
use super::span::Span;

/// How many faults the report has at most.
const MOST: usize = 20;

/// The faults of these spans, for each trace the names and ids of its spans, and the names of the
/// metrics: `{faults, traces: {TRACE: [{name, id}]}, metrics: [NAME]}`.
pub(crate) fn report(spans: &[Span], metrics: &[ExportMetricsServiceRequest]) -> Value {
    let mut traces: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for span in spans {
        let entry = json!({"name": span.name, "id": span.id});
        traces.entry(&span.trace).or_default().push(entry);
    }
    let faults: Vec<_> = faults(spans).into_iter().take(MOST).collect();
    json!({"faults": faults, "traces": traces, "metrics": metric_names(metrics)})
}

fn metric_names(exports: &[ExportMetricsServiceRequest]) -> BTreeSet<&str> {
    let resources = exports.iter().flat_map(|export| &export.resource_metrics);
    let metrics = resources.flat_map(|it| &it.scope_metrics).flat_map(|scope| &scope.metrics);
    metrics.map(|metric| &*metric.name).collect()
}
