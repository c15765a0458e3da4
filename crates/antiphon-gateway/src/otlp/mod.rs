//! Exports traces over OTLP: protobuf over HTTP, by the gateway's own client.
//!
//! OpenTelemetry's batch processor collects the spans in a bounded queue. Its thread sends them, so
//! no turn waits for the receiver. If the queue is full, spans are dropped.

mod client;
mod outage;
mod resource;
mod traces;

use std::io;

use self::resource::Attributes;
use crate::settings::{Telemetry, TraceExport};
use crate::span::{Policy, Tracer};

/// Starts the export of traces, if the settings have one.
pub(crate) fn start_tracer(telemetry: &Telemetry) -> io::Result<Tracer> {
    let Some(export) = &telemetry.traces else { return Ok(Tracer::default()) };
    let resource = Attributes::of_process(&telemetry.resource);
    let (provider, tracer) = traces::start(export, &resource)?;
    log_start(export);
    let TraceExport { propagation, has_content, .. } = *export;
    Ok(Tracer::new(provider, tracer, Policy { propagation, has_content }))
}

fn log_start(export: &TraceExport) {
    let host = export.exporter.endpoint.host().unwrap_or_default();
    let sampled = export.sampler.ratio;
    tracing::info!(host, sampled, text_of_items = export.has_content, "exporting traces");
}
