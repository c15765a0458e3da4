//! A report on all traces, for tests in other languages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check::faults;
use super::span::Span;

/// How many faults the report has at most.
const MOST: usize = 20;

/// The faults of these spans, and for each trace the names and ids of its spans:
/// `{faults, traces: {TRACE: [{name, id}]}}`.
pub(crate) fn report(spans: &[Span]) -> Value {
    let mut traces: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for span in spans {
        let entry = json!({"name": span.name, "id": span.id});
        traces.entry(&span.trace).or_default().push(entry);
    }
    let faults: Vec<_> = faults(spans).into_iter().take(MOST).collect();
    json!({"faults": faults, "traces": traces})
}
