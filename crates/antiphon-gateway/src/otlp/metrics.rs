//! Exports the metrics.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Request, header};
use opentelemetry_http::HttpClient as _;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::metrics::v1::{ResourceMetrics, ScopeMetrics};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prometheus::proto::MetricFamily;
use prost::Message as _;
use tokio::time::{MissedTickBehavior, interval_at, timeout};

use super::client::OtlpClient;
use super::families::{Times, convert};
use super::outage::Outage;
use super::resource::Attributes;
use crate::entropy::from_now;
use crate::settings::{MetricExport, OtlpExporter};

/// The time limit for the last export.
const FLUSH: Duration = Duration::from_secs(5);

/// Exports metrics: all series at each interval, cumulative since the start of the process. A failed
/// export is not retried, because the next one has its values.
pub(crate) struct MetricExporter {
    client: OtlpClient,
    receiver: OtlpExporter,
    interval: Duration,
    resource: Resource,
    outage: Outage,
    /// The start of the process, in nanoseconds since 1970.
    start: u64,
}

impl MetricExporter {
    pub(super) fn new(export: &MetricExport, resource: &Attributes) -> Self {
        Self {
            client: OtlpClient::new(&export.exporter),
            receiver: export.exporter.clone(),
            interval: export.interval,
            resource: resource.message(),
            outage: Outage::default(),
            start: unix_nanos(),
        }
    }

    /// Exports the metrics that `gather` returns at each interval. Never returns.
    pub(crate) async fn run(&self, gather: impl Fn() -> Vec<MetricFamily>) {
        let mut interval = interval_at(from_now(self.interval), self.interval);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.export(&gather()).await;
        }
    }

    /// Exports these metrics within a time limit, before the gateway ends.
    pub(crate) async fn flush(&self, families: &[MetricFamily]) {
        if timeout(FLUSH, self.export(families)).await.is_err() {
            tracing::warn!("could not export the last metrics within {FLUSH:?}");
        }
    }

    async fn export(&self, families: &[MetricFamily]) {
        let times = Times { start: self.start, now: unix_nanos() };
        let message = self.message(families, times);
        let failure = self.send(&message).await.err();
        self.outage.record("metrics", families.len(), failure);
    }

    fn message(&self, families: &[MetricFamily], times: Times) -> ExportMetricsServiceRequest {
        let scope = InstrumentationScope {
            name: "antiphon".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..InstrumentationScope::default()
        };
        let metrics = families.iter().filter_map(|family| convert(family, times)).collect();
        let metrics = ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() };
        let resource = ResourceMetrics {
            resource: Some(self.resource.clone()),
            scope_metrics: vec![metrics],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![resource] }
    }

    /// Sends an export. The error is a clause.
    async fn send(&self, message: &ExportMetricsServiceRequest) -> Result<(), String> {
        let body = message.encode_to_vec();
        let body = match self.receiver.is_compressed {
            true => compress(&body).map_err(|error| error.to_string())?,
            false => body,
        };
        let request = self.request(body).map_err(|error| error.to_string())?;
        match self.client.send_bytes(request).await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            _ => Err(self.client.failure()),
        }
    }

    fn request(&self, body: Vec<u8>) -> http::Result<Request<Bytes>> {
        let mut request = Request::post(&self.receiver.endpoint)
            .header(header::CONTENT_TYPE, "application/x-protobuf");
        if self.receiver.is_compressed {
            request = request.header(header::CONTENT_ENCODING, "gzip");
        }
        for (name, value) in &self.receiver.headers {
            let mut value = HeaderValue::try_from(value.reveal())?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        request.body(body.into())
    }
}

fn compress(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Nanoseconds since 1970.
fn unix_nanos() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
