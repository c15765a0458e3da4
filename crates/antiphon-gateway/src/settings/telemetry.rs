//! The export of traces and metrics over OTLP, as OpenTelemetry's standard variables set it.

mod exporter;
mod resource;
mod sampler;
mod variables;

use std::time::Duration;

pub use self::exporter::OtlpExporter;
pub use self::sampler::TraceSampler;
use self::variables::Variables;

with_defaults! {
    /// The export of traces and metrics. By default there is none.
    #[derive(Clone, Debug)]
    pub struct Telemetry {
        /// The export of traces.
        pub traces: Option<TraceExport> = None,
        /// The export of metrics.
        pub metrics: Option<MetricExport> = None,
        /// The attributes of the resource, which name this service and its process.
        pub resource: Vec<(String, String)> = Vec::new(),
    }
}

with_defaults! {
    /// The export of traces.
    #[derive(Clone, Debug)]
    pub struct TraceExport {
        /// The receiver.
        pub exporter: OtlpExporter = OtlpExporter::default(),
        /// The choice of the requests that have spans.
        pub sampler: TraceSampler = TraceSampler::default(),
        /// The contexts of other services.
        pub propagation: Propagation = Propagation::TraceContext,
        /// Whether spans have the text of items.
        pub has_content: bool = false,
        /// The time between two exports.
        pub schedule_delay: Duration = Duration::from_secs(5),
        /// The maximum number of spans that wait for an export. Further spans are dropped.
        pub max_queue: usize = 2048,
        /// The maximum number of spans in one request to the receiver.
        pub max_batch: usize = 512,
    }
}

with_defaults! {
    /// The export of metrics.
    #[derive(Clone, Debug)]
    pub struct MetricExport {
        /// The receiver.
        pub exporter: OtlpExporter = OtlpExporter::default(),
        /// The time between two exports.
        pub interval: Duration = Duration::from_mins(1),
    }
}

/// Whether contexts pass from callers to traces, and from traces to upstreams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// W3C Trace Context: the span of a request continues the caller's trace, and its own context
    /// replaces the caller's in requests to upstreams.
    #[default]
    TraceContext,
    /// None: each request starts a trace, and the headers of a caller pass to upstreams unchanged.
    Nothing,
}

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    /// Its name in the names of variables.
    fn name(self) -> &'static str {
        match self {
            Self::Traces => "TRACES",
            Self::Metrics => "METRICS",
        }
    }

    /// Its path below the endpoint of all signals.
    fn path(self) -> &'static str {
        match self {
            Self::Traces => "/v1/traces",
            Self::Metrics => "/v1/metrics",
        }
    }
}

impl Telemetry {
    /// All variables that have an effect.
    pub const VARIABLES: &[&str] = variables::NAMES;

    /// Reads the variables. Also returns a sentence for each value that has no effect, because it
    /// is invalid or not supported: as the standard demands, it is ignored and reported.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut variables = Variables::new(&variable);
        let telemetry = match variables.is_true("OTEL_SDK_DISABLED") {
            true => Self::default(),
            false => Self::read(&mut variables),
        };
        (telemetry, variables.into_warnings())
    }

    fn read(variables: &mut Variables<'_>) -> Self {
        let traces = OtlpExporter::read(variables, Signal::Traces);
        let traces = traces.map(|exporter| TraceExport::read(variables, exporter));
        let metrics = OtlpExporter::read(variables, Signal::Metrics);
        let metrics = metrics.map(|exporter| MetricExport::read(variables, exporter));
        match traces.is_some() || metrics.is_some() {
            true => Self { traces, metrics, resource: resource::read(variables) },
            false => Self::default(),
        }
    }
}

impl TraceExport {
    fn read(variables: &mut Variables<'_>, exporter: OtlpExporter) -> Self {
        let default = Self::default();
        let timeout = variables.milliseconds("OTEL_BSP_EXPORT_TIMEOUT");
        let timeout = timeout.unwrap_or(exporter.timeout).min(exporter.timeout);
        let delay = variables.milliseconds("OTEL_BSP_SCHEDULE_DELAY");
        let queue = variables.size("OTEL_BSP_MAX_QUEUE_SIZE").unwrap_or(default.max_queue);
        let batch = variables.size("OTEL_BSP_MAX_EXPORT_BATCH_SIZE").unwrap_or(default.max_batch);
        Self {
            exporter: OtlpExporter { timeout, ..exporter },
            sampler: TraceSampler::read(variables),
            propagation: propagation(variables),
            has_content: has_content(variables),
            schedule_delay: delay.unwrap_or(default.schedule_delay),
            max_queue: queue,
            max_batch: batch.min(queue),
        }
    }
}

impl MetricExport {
    fn read(variables: &mut Variables<'_>, exporter: OtlpExporter) -> Self {
        let default = Self::default();
        let timeout = variables.milliseconds("OTEL_METRIC_EXPORT_TIMEOUT");
        let timeout = timeout.unwrap_or(exporter.timeout).min(exporter.timeout);
        let interval = variables.milliseconds("OTEL_METRIC_EXPORT_INTERVAL");
        variables.expect("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative");
        Self {
            exporter: OtlpExporter { timeout, ..exporter },
            interval: interval.unwrap_or(default.interval),
        }
    }
}

/// The standard's default is `tracecontext,baggage`. Baggage is not forwarded: it may have data
/// that is not meant for a model's provider.
fn propagation(variables: &mut Variables<'_>) -> Propagation {
    const NAME: &str = "OTEL_PROPAGATORS";
    let Some(text) = variables.text(NAME) else { return Propagation::TraceContext };
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    for name in names.iter().filter(|name| !["tracecontext", "none"].contains(name)) {
        variables.warn(NAME, &format!("'{name}' is not supported; use tracecontext or none"));
    }
    match names.contains(&"tracecontext") {
        true => Propagation::TraceContext,
        false => Propagation::Nothing,
    }
}

/// Whether spans have the text of items. The values are those of OpenTelemetry's instrumentations.
fn has_content(variables: &mut Variables<'_>) -> bool {
    const NAME: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    match variables.text(NAME).map(|text| text.to_ascii_lowercase()).as_deref() {
        None | Some("false" | "no_content") => false,
        Some("true" | "span_only" | "span_and_event") => true,
        Some(_) => {
            variables
                .warn(NAME, "only span_only and no_content are supported; no text is exported");
            false
        }
    }
}

#[cfg(test)]
mod tests;
