//! The export of metrics over OTLP.

use std::collections::BTreeSet;
use std::time::Duration;

use antiphon_gateway::settings::{KeyHash, MetricExport, OtlpExporter, Secret, Settings};
use antiphon_testkit::otlp::Receiver;
use http::{HeaderName, StatusCode};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest as Export;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;

use crate::support::{METRICS_KEY, Mode, Scrape, World, ask, soon};

/// A gateway that exports its metrics every few milliseconds.
async fn world(receiver: &Receiver, change: impl FnOnce(&mut Settings)) -> World {
    let endpoint = format!("{}/v1/metrics", receiver.endpoint()).parse().expect("it is a URL");
    World::with(|settings| {
        settings.metrics.key = Some(KeyHash::from_key(METRICS_KEY));
        settings.telemetry.resource = vec![("service.name".to_owned(), "antiphon".to_owned())];
        settings.telemetry.metrics = Some(MetricExport {
            exporter: OtlpExporter { endpoint, ..OtlpExporter::default() },
            interval: Duration::from_millis(10),
            ..MetricExport::default()
        });
        change(settings);
    })
    .await
}

fn metrics(export: &Export) -> impl Iterator<Item = &Metric> {
    let scopes = export.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    scopes.flat_map(|scope| &scope.metrics)
}

/// The sum of all series of a counter.
fn total(export: &Export, name: &str) -> f64 {
    let metric = metrics(export).find(|metric| metric.name == name);
    let Some(Data::Sum(sum)) = metric.and_then(|metric| metric.data.as_ref()) else { return 0.0 };
    let values = sum.data_points.iter().map(|point| match point.value {
        Some(Value::AsDouble(value)) => value,
        _ => panic!("{name} is not a double"),
    });
    values.sum()
}

#[tokio::test]
async fn stop_exports_all_metrics_of_the_registry() {
    let receiver = Receiver::start().await;
    let mut world = world(&receiver, |settings| {
        let export = settings.telemetry.metrics.as_mut().expect("they are exported");
        export.interval = Duration::from_hours(1);
    })
    .await;
    for mode in [Mode::Whole, Mode::Streamed] {
        world.client().turn(mode, &ask("Hello")).await;
    }
    let scrape = Scrape::read(&world.caller(METRICS_KEY)).await;
    soon("the gateway stops", world.stop().ended()).await;

    let exports = receiver.metrics();
    let [export] = &exports[..] else { panic!("{} exports", exports.len()) };
    let exported: BTreeSet<&str> = metrics(export).map(|metric| &*metric.name).collect();
    let scraped: BTreeSet<&str> = scrape.families().collect();
    assert!(exported.is_superset(&scraped), "{exported:?} {scraped:?}");
    assert!((total(export, "antiphon_turns_total") - 2.0).abs() < f64::EPSILON);
    let resource = export.resource_metrics[0].resource.as_ref().expect("it has a resource");
    let keys: BTreeSet<&str> = resource.attributes.iter().map(|it| &*it.key).collect();
    assert!(keys.contains("service.name") && keys.contains("service.instance.id"), "{keys:?}");
}

#[tokio::test]
async fn metrics_are_exported_at_each_interval() {
    let receiver = Receiver::start().await;
    let world = world(&receiver, |_| {}).await;
    soon("two exports arrive", receiver.wait_for_metrics(2)).await;
    world.client().turn(Mode::Whole, &ask("Hello")).await;
    let seen = receiver.metrics().len();
    // The export that was under way may be older than the turn.
    let exports = soon("later exports arrive", receiver.wait_for_metrics(seen + 2)).await;
    let last = exports.last().expect("there are exports");
    assert!((total(last, "antiphon_turns_total") - 1.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn export_continues_after_an_outage() {
    let receiver = Receiver::start().await;
    receiver.answer_with(StatusCode::SERVICE_UNAVAILABLE);
    let world = world(&receiver, |_| {}).await;
    soon("exports are refused", receiver.wait_for_refusals(2)).await;
    world.client().turn(Mode::Whole, &ask("Hello")).await;
    receiver.answer_with(StatusCode::OK);
    let exports = soon("exports arrive", receiver.wait_for_metrics(2)).await;
    let last = exports.last().expect("there are exports");
    assert!((total(last, "antiphon_turns_total") - 1.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn compressed_exports_have_the_headers_of_the_settings() {
    let receiver = Receiver::start().await;
    let _world = world(&receiver, |settings| {
        let export = settings.telemetry.metrics.as_mut().expect("they are exported");
        export.exporter.is_compressed = true;
        let key = Secret::new("key-of-the-collector");
        export.exporter.headers = vec![(HeaderName::from_static("x-api-key"), key)];
    })
    .await;
    soon("an export arrives", receiver.wait_for_metrics(1)).await;
    let headers = receiver.metric_headers();
    assert_eq!(headers[0]["content-encoding"], "gzip");
    assert_eq!(headers[0]["x-api-key"], "key-of-the-collector");
}

#[tokio::test]
async fn turns_and_stops_do_not_depend_on_the_receiver() {
    let receiver = Receiver::start().await;
    let mut world = world(&receiver, |settings| {
        let export = settings.telemetry.metrics.as_mut().expect("they are exported");
        // Nothing listens there.
        let endpoint = http::Uri::from_static("http://127.0.0.1:9/v1/metrics");
        export.exporter = OtlpExporter { endpoint, ..OtlpExporter::default() };
    })
    .await;
    let turn = world.client().turn(Mode::Whole, &ask("Hello")).await;
    assert_eq!(turn.status(), "completed");
    soon("the gateway stops", world.stop().ended()).await;
    assert_eq!(receiver.metrics().len(), 0);
}
