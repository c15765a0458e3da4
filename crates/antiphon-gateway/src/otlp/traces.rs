//! Exports spans.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use opentelemetry::InstrumentationScope;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    Compression, Protocol, SpanExporter as OtlpSpanExporter, WithExportConfig as _,
    WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider, SpanData,
    SpanExporter,
};

use super::client::OtlpClient;
use super::outage::Outage;
use super::resource::Attributes;
use crate::settings::{OtlpExporter, TraceExport, TraceSampler};

/// Starts a thread that exports spans.
pub(super) fn start(
    export: &TraceExport,
    resource: &Attributes,
) -> io::Result<(SdkTracerProvider, SdkTracer)> {
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(export.max_queue)
        .with_max_export_batch_size(export.max_batch)
        .with_scheduled_delay(export.schedule_delay)
        .build();
    let exporter = Exporter::new(&export.exporter)?;
    let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
    let provider = SdkTracerProvider::builder()
        .with_sampler(sampler(export.sampler))
        .with_resource(resource.resource())
        .with_span_processor(processor)
        .build();
    let scope = InstrumentationScope::builder("antiphon").with_version(env!("CARGO_PKG_VERSION"));
    let tracer = provider.tracer_with_scope(scope.build());
    Ok((provider, tracer))
}

fn sampler(settings: TraceSampler) -> Sampler {
    let root = match settings.ratio {
        ratio if ratio >= 1.0 => Sampler::AlwaysOn,
        ratio if ratio <= 0.0 => Sampler::AlwaysOff,
        ratio => Sampler::TraceIdRatioBased(ratio),
    };
    match settings.follows_parent {
        true => Sampler::ParentBased(Box::new(root)),
        false => root,
    }
}

/// The exporter over OTLP, which logs outages of its receiver.
#[derive(Debug)]
struct Exporter {
    exporter: OtlpSpanExporter,
    client: OtlpClient,
    outage: Outage,
}

impl Exporter {
    fn new(receiver: &OtlpExporter) -> io::Result<Self> {
        let client = OtlpClient::new(receiver);
        let headers = receiver.headers.iter();
        let headers: HashMap<String, String> =
            headers.map(|(name, value)| (name.to_string(), value.reveal().to_owned())).collect();
        let exporter = OtlpSpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(receiver.endpoint.to_string())
            .with_timeout(receiver.timeout)
            .with_headers(headers);
        let exporter = match receiver.is_compressed {
            true => exporter.with_compression(Compression::Gzip),
            false => exporter,
        };
        let exporter = exporter.build().map_err(io::Error::other)?;
        Ok(Self { exporter, client, outage: Outage::default() })
    }
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let exported = self.exporter.export(batch).await;
        let failure = exported.as_ref().err().map(|_| self.client.failure());
        self.outage.record("spans", count, failure);
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
