//! Traces that the standard variables of OpenTelemetry switch on.

use antiphon_testkit::otlp::{self, Receiver, Span, Value as Attribute};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{Serving, World};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A gateway with these variables; its log is JSON.
fn start(variables: &[(&str, &str)]) -> Serving {
    let world = World::serve(&["--listen=127.0.0.1:0", "--store=sqlite::memory:"]);
    let world = world.variable("ANTIPHON_LOG_FORMAT", "json");
    variables.iter().fold(world, |world, (name, text)| world.variable(name, text)).ready()
}

/// Takes a turn of the built-in model in the caller's trace.
fn take_turn(serving: &Serving) {
    let header = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01");
    let body = json!({"model": "sim", "input": "Hello"}).to_string();
    let answer = serving.ask_with("POST", "/v1/responses", &header, &body);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Stops the gateway; its log lines.
fn stop(serving: Serving) -> Vec<Value> {
    serving.signal("TERM");
    let (status, _, log) = serving.ended();
    assert!(status.success(), "{log}");
    log.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// The lines with this text in their message.
fn saying<'a>(lines: &'a [Value], text: &str) -> Vec<&'a Value> {
    let says =
        |line: &&Value| line["fields"]["message"].as_str().is_some_and(|it| it.contains(text));
    lines.iter().filter(says).collect()
}

#[test]
fn variables_switch_traces_on_and_a_stop_exports_them() {
    let runtime = Runtime::new().unwrap();
    let receiver = runtime.block_on(Receiver::start());
    let serving = start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-api-key=key%20of%20collector"),
        ("OTEL_SERVICE_NAME", "gateway-of-acme"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
    ]);
    take_turn(&serving);
    assert_eq!(receiver.exports().len(), 0);
    let lines = stop(serving);

    let spans = receiver.spans();
    assert_eq!(otlp::faults(&spans), [""; 0]);
    assert!(spans.iter().all(|span| span.trace == TRACE));
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    for name in ["POST /v1/responses", "open", "load", "reconcile", "send", "chat sim", "commit"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let resource = |key: &str| match &spans[0].resource[key] {
        Attribute::Text(text) => text.clone(),
        other => panic!("{key} is {other:?}"),
    };
    assert_eq!(resource("service.name"), "gateway-of-acme");
    assert_eq!(resource("deployment.environment.name"), "test");
    assert_eq!(resource("service.version"), env!("CARGO_PKG_VERSION"));
    assert_eq!(receiver.exports()[0].headers["x-api-key"], "key of collector");
    let turn = saying(&lines, "turn").into_iter().find(|it| it["fields"]["message"] == "turn");
    assert_eq!(turn.expect("a turn is logged")["span"]["trace_id"], TRACE);
    assert_eq!(saying(&lines, "exporting traces").len(), 1);
}

#[test]
fn nothing_is_exported_without_an_endpoint_or_with_the_sdk_disabled() {
    let runtime = Runtime::new().unwrap();
    let receiver = runtime.block_on(Receiver::start());
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.endpoint());
    for variables in [
        &[("OTEL_SERVICE_NAME", "gateway")][..],
        &[endpoint, ("OTEL_SDK_DISABLED", "true")],
        &[endpoint, ("OTEL_TRACES_EXPORTER", "none"), ("OTEL_METRICS_EXPORTER", "none")],
    ] {
        let serving = start(variables);
        take_turn(&serving);
        let lines = stop(serving);
        assert!(saying(&lines, "exporting").is_empty(), "{variables:?}");
        // The id of the caller's trace is in the log nevertheless.
        let turn = saying(&lines, "turn").into_iter().find(|it| it["fields"]["message"] == "turn");
        assert_eq!(turn.expect("a turn is logged")["span"]["trace_id"], TRACE);
    }
    assert_eq!(receiver.exports().len(), 0);
}

#[test]
fn outage_of_the_receiver_is_one_line() {
    let serving = start(&[
        // Nothing listens there.
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("OTEL_METRICS_EXPORTER", "none"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "500"),
    ]);
    for _ in 0..5 {
        take_turn(&serving);
    }
    serving.says("could not export spans");
    for _ in 0..5 {
        take_turn(&serving);
    }
    let lines = stop(serving);
    assert!(saying(&lines, "could not export spans").is_empty(), "{lines:#?}");
    // The lines of OpenTelemetry's SDK have a name.
    assert!(lines.iter().all(|line| line["fields"]["name"].is_null()), "{lines:#?}");
}

#[test]
fn ineffective_variables_are_reported_at_the_start() {
    let serving = start(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ]);
    take_turn(&serving);
    let lines = stop(serving);
    let expected = "OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' is not supported; no traces are exported; \
                    use http/protobuf";
    let warnings = saying(&lines, expected);
    assert_eq!(warnings.len(), 1, "{lines:#?}");
    assert_eq!(warnings[0]["level"], "WARN");
}

#[test]
fn sampler_of_the_variables_decides() {
    let runtime = Runtime::new().unwrap();
    let receiver = runtime.block_on(Receiver::start());
    let serving = start(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/v1/traces", receiver.endpoint())),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0"),
    ]);
    serving.ask("POST", "/v1/responses", r#"{"model":"sim","input":"Hello"}"#);
    take_turn(&serving);
    stop(serving);
    let is_of_caller = |span: &Span| span.trace == TRACE;
    assert!(receiver.spans().iter().all(is_of_caller) && !receiver.spans().is_empty());
}
