//! A receiver that is down.

use std::time::Duration;

use antiphon_gateway::settings::OtlpExporter;
use http::StatusCode;

use super::{TracedWorld, is_turn};
use crate::support::{MODES, Mode, ask, soon};

#[tokio::test]
async fn turns_do_not_depend_on_the_receiver() {
    let traced = TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        // Nothing listens there, and no port is free below 1024.
        let endpoint = http::Uri::from_static("http://127.0.0.1:9/v1/traces");
        traces.exporter = OtlpExporter { endpoint, ..OtlpExporter::default() };
        (traces.max_queue, traces.max_batch) = (8, 8);
    })
    .await;
    for mode in MODES {
        for _ in 0..10 {
            let turn = traced.world.client().turn(mode, &ask("Hello")).await;
            assert_eq!(turn.status(), "completed");
        }
    }
    assert_eq!(traced.receiver.exports().len(), 0);
}

#[tokio::test]
async fn stop_does_not_wait_long_for_a_receiver() {
    let mut traced = TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        let endpoint = http::Uri::from_static("http://127.0.0.1:9/v1/traces");
        traces.exporter = OtlpExporter { endpoint, ..OtlpExporter::default() };
        traces.schedule_delay = Duration::from_hours(1);
    })
    .await;
    traced.world.client().respond(&ask("Hello")).await;
    soon("the gateway stops", traced.world.stop().ended()).await;
}

#[tokio::test]
async fn export_continues_after_an_outage() {
    let traced = TracedWorld::new().await;
    traced.receiver.answer_with(StatusCode::BAD_REQUEST);
    traced.world.client().turn(Mode::Streamed, &ask("Hello")).await;
    soon("spans are refused", traced.receiver.wait_for_refusals(1)).await;
    traced.receiver.answer_with(StatusCode::OK);
    let client = traced.world.client().with_header("user-agent", "later");
    client.turn(Mode::Streamed, &ask("Hello")).await;
    traced
        .traces_with(1, |span| is_turn(span) && span.text("user_agent.original") == "later")
        .await;
}

#[tokio::test]
async fn headers_and_compression_are_those_of_the_settings() {
    let traced = TracedWorld::with(|settings| {
        let traces = settings.telemetry.traces.as_mut().expect("they are exported");
        traces.exporter.is_compressed = true;
        let key = antiphon_gateway::settings::Secret::new("key-of-the-collector");
        traces.exporter.headers = vec![(http::HeaderName::from_static("x-api-key"), key)];
    })
    .await;
    traced.world.client().respond(&ask("Hello")).await;
    traced.trace().await;
    for export in traced.receiver.exports() {
        assert_eq!(export.headers["content-type"], "application/x-protobuf");
        assert_eq!(export.headers["content-encoding"], "gzip");
        assert_eq!(export.headers["x-api-key"], "key-of-the-collector");
    }
}
