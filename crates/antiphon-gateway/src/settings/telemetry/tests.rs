use super::*;

/// The settings and the warnings of these variables.
fn read(variables: &[(&str, &str)]) -> (Telemetry, Vec<String>) {
    Telemetry::from_variables(|name| {
        assert!(Telemetry::VARIABLES.contains(&name), "{name} is not listed");
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// The export of traces with an endpoint and these variables, which are all valid.
fn traces(variables: &[(&str, &str)]) -> TraceExport {
    let endpoint = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")];
    let (telemetry, warnings) = read(&[&endpoint, variables].concat());
    assert_eq!(warnings, [""; 0]);
    telemetry.traces.expect("an endpoint is set")
}

#[test]
fn nothing_is_exported_by_default() {
    for variables in [
        &[][..],
        &[("OTEL_SERVICE_NAME", "gateway"), ("OTEL_TRACES_SAMPLER", "always_on")],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"), ("OTEL_SDK_DISABLED", "true")],
    ] {
        let (telemetry, warnings) = read(variables);
        assert!(telemetry.traces.is_none() && telemetry.metrics.is_none(), "{variables:?}");
        assert_eq!(warnings, [""; 0]);
    }
}

#[test]
fn endpoint_of_all_signals_gets_a_path() {
    for base in ["http://c:4318", "http://c:4318/"] {
        let (telemetry, _) = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", base)]);
        assert_eq!(telemetry.traces.unwrap().exporter.endpoint, "http://c:4318/v1/traces");
        assert_eq!(telemetry.metrics.unwrap().exporter.endpoint, "http://c:4318/v1/metrics");
    }
}

#[test]
fn own_endpoint_of_a_signal_is_used_unchanged() {
    let own = [("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c.example/otlp?x=1")];
    let (telemetry, _) = read(&own);
    assert_eq!(telemetry.traces.unwrap().exporter.endpoint, "https://c.example/otlp?x=1");
    assert!(telemetry.metrics.is_none());
}

#[test]
fn exporter_variable_decides() {
    let (telemetry, _) = read(&[("OTEL_TRACES_EXPORTER", "otlp")]);
    assert_eq!(telemetry.traces.unwrap().exporter.endpoint, "http://localhost:4318/v1/traces");
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
    let (telemetry, _) = read(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]);
    assert!(telemetry.traces.is_none() && telemetry.metrics.is_some());
}

#[test]
fn headers_are_secret_and_decoded() {
    let export =
        traces(&[("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc%20d,authorization=Bearer%20t")]);
    let headers = &export.exporter.headers;
    assert_eq!((headers[0].0.as_str(), headers[0].1.reveal()), ("x-key", "abc d"));
    assert_eq!(headers[1].1.reveal(), "Bearer t");
    assert!(!format!("{export:?}").contains("abc"));
}

#[test]
fn samplers_have_the_standard_names() {
    let sampler = |name, argument: Option<&'static str>| {
        let argument = argument.map(|argument| ("OTEL_TRACES_SAMPLER_ARG", argument));
        let variables: Vec<_> =
            [("OTEL_TRACES_SAMPLER", name)].into_iter().chain(argument).collect();
        let TraceSampler { follows_parent, ratio } = traces(&variables).sampler;
        (follows_parent, ratio)
    };
    assert_eq!(sampler("always_on", None), (false, 1.0));
    assert_eq!(sampler("always_off", None), (false, 0.0));
    assert_eq!(sampler("traceidratio", Some("0.25")), (false, 0.25));
    assert_eq!(sampler("parentbased_traceidratio", Some("0.01")), (true, 0.01));
    assert_eq!(sampler("parentbased_traceidratio", None), (true, 1.0));
    assert_eq!(traces(&[]).sampler, TraceSampler { follows_parent: true, ratio: 1.0 });
}

#[test]
fn batches_and_times_are_read() {
    let export = traces(&[
        ("OTEL_BSP_SCHEDULE_DELAY", "200"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "500"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "3000"),
        ("OTEL_BSP_EXPORT_TIMEOUT", "30000"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
    ]);
    assert_eq!(export.schedule_delay, Duration::from_millis(200));
    assert_eq!((export.max_queue, export.max_batch), (100, 100));
    assert_eq!(export.exporter.timeout, Duration::from_secs(3));
    assert!(export.exporter.is_compressed);
}

#[test]
fn resource_names_the_service() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
    let resource = |variables: &[(&str, &str)]| {
        let (telemetry, _) = read(&[&[endpoint], variables].concat());
        telemetry.resource.into_iter().filter(|(name, _)| name != "service.version").collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let found: Vec<_> = resource(&[]);
    assert_eq!(found, [pair("service.name", "antiphon")]);
    let given = ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=a%2Cb,service.name=x");
    let found: Vec<_> = resource(&[given]);
    assert_eq!(found, [pair("deployment.environment.name", "a,b"), pair("service.name", "x")]);
    let found: Vec<_> = resource(&[given, ("OTEL_SERVICE_NAME", "y")]);
    assert_eq!(found[1], pair("service.name", "y"));
}

#[test]
fn text_is_exported_only_on_request() {
    const NAME: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    assert!(!traces(&[]).has_content);
    for (value, expected) in
        [("true", true), ("SPAN_ONLY", true), ("span_and_event", true), ("NO_CONTENT", false)]
    {
        assert_eq!(traces(&[(NAME, value)]).has_content, expected, "{value}");
    }
}

#[test]
fn propagators_can_be_turned_off() {
    assert_eq!(traces(&[]).propagation, Propagation::TraceContext);
    let named = |names| traces(&[("OTEL_PROPAGATORS", names)]).propagation;
    assert_eq!(named("none"), Propagation::Nothing);
    assert_eq!(named("tracecontext"), Propagation::TraceContext);
}

#[test]
fn ineffective_values_are_reported() {
    let endpoint = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:4318");
    for (name, value, warning) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "no traces are exported; use http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "use http/protobuf"),
        ("OTEL_TRACES_SAMPLER", "xray", "parentbased_always_on applies"),
        ("OTEL_TRACES_EXPORTER", "otlp,console", "'console' is not supported"),
        ("OTEL_PROPAGATORS", "tracecontext,baggage,b3", "'baggage' is not supported"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "not a whole number above 0"),
        ("OTEL_BSP_SCHEDULE_DELAY", "5s", "not a number of milliseconds above 0"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "sk-secret", "entry 1 is not KEY=VALUE"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "use gzip or none"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem", "public authorities only"),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=b,c", "not a list of KEY=VALUE"),
        ("OTEL_SDK_DISABLED", "yes", "neither true nor false"),
    ] {
        let (_, warnings) = read(&[endpoint, (name, value)]);
        let found = warnings.iter().find(|it| it.starts_with(&format!("{name}: ")));
        let found = found.unwrap_or_else(|| panic!("{name}={value}: {warnings:?}"));
        assert!(found.contains(warning), "{found}");
        assert!(!found.contains("sk-secret"));
    }
    let ratio = [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")];
    let (telemetry, warnings) = read(&[&[endpoint][..], &ratio].concat());
    assert_eq!(telemetry.traces.unwrap().sampler.ratio.to_bits(), 1f64.to_bits());
    assert_eq!(warnings, ["OTEL_TRACES_SAMPLER_ARG: '2' is not a number from 0 to 1; 1 applies"]);
    let (telemetry, warnings) = read(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4318")]);
    assert!(telemetry.traces.is_none());
    assert!(warnings[0].contains("not an http or https URL"), "{warnings:?}");
}
