//! Exports traces and metrics over OTLP: protobuf over HTTP, by the gateway's own client.
//!
//! OpenTelemetry's batch processor collects the spans in a bounded queue. Its thread sends them, so
//! no turn waits for the receiver. If the queue is full, spans are dropped. A task of the server
//! exports the metrics at each interval, from the registry that `/metrics` shows.

mod client;
mod families;
mod metrics;
mod outage;
mod resource;
mod traces;

use std::io;

pub(crate) use self::metrics::MetricExporter;
use self::resource::Attributes;
use crate::settings::{Telemetry, TraceExport};
use crate::span::{Policy, Tracer};

/// Starts the exports that the settings have: the tracer, and the exporter of metrics.
pub(crate) fn start(telemetry: &Telemetry) -> io::Result<(Tracer, Option<MetricExporter>)> {
    let resource = Attributes::of_process(&telemetry.resource);
    let tracer = match &telemetry.traces {
        Some(export) => start_tracer(export, &resource)?,
        None => Tracer::default(),
    };
    let metrics = telemetry.metrics.as_ref().map(|export| {
        let host = export.exporter.endpoint.host().unwrap_or_default();
        tracing::info!(host, interval = ?export.interval, "exporting metrics");
        MetricExporter::new(export, &resource)
    });
    Ok((tracer, metrics))
}

fn start_tracer(export: &TraceExport, resource: &Attributes) -> io::Result<Tracer> {
    let (provider, tracer) = traces::start(export, resource)?;
    log_start(export);
    let TraceExport { propagation, has_content, .. } = *export;
    Ok(Tracer::new(provider, tracer, Policy { propagation, has_content }))
}

fn log_start(export: &TraceExport) {
    let host = export.exporter.endpoint.host().unwrap_or_default();
    let sampled = export.sampler.ratio;
    tracing::info!(host, sampled, text_of_items = export.has_content, "exporting traces");
}
