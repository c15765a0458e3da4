//! The variables, and the warnings about their values.

use std::collections::HashSet;
use std::time::Duration;

/// All variables that have an effect.
pub(super) const NAMES: &[&str] = &[
    "OTEL_BSP_EXPORT_TIMEOUT",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_EXPORTER_OTLP_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
    "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
    "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    "OTEL_METRICS_EXPORTER",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_METRIC_EXPORT_TIMEOUT",
    "OTEL_PROPAGATORS",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SDK_DISABLED",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_EXPORTER",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
];

/// The values of the variables, and the warnings so far.
pub(super) struct Variables<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    warnings: Vec<String>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(variable: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variable, warnings: Vec::new() }
    }

    /// The warnings, each once.
    pub(super) fn into_warnings(mut self) -> Vec<String> {
        let mut seen = HashSet::new();
        self.warnings.retain(|warning| seen.insert(warning.clone()));
        self.warnings
    }

    /// A value. An empty one counts as not set.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Whether the value is `true`. Every other value is false.
    pub(super) fn is_true(&mut self, name: &str) -> bool {
        match self.text(name) {
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if !text.eq_ignore_ascii_case("false") => {
                self.warn(name, &format!("'{text}' is neither true nor false; it counts as false"));
                false
            }
            _ => false,
        }
    }

    /// A time in milliseconds.
    pub(super) fn milliseconds(&mut self, name: &str) -> Option<Duration> {
        let number = self.number(name, "a number of milliseconds above 0")?;
        Some(Duration::from_millis(number))
    }

    /// A number of entries.
    pub(super) fn size(&mut self, name: &str) -> Option<usize> {
        let number = self.number(name, "a whole number above 0")?;
        usize::try_from(number).ok()
    }

    fn number(&mut self, name: &str, expected: &str) -> Option<u64> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| *number > 0);
        if number.is_none() {
            self.warn(name, &format!("'{text}' is not {expected}; the default applies"));
        }
        number
    }

    /// Warns if the value is another one than the only one that is supported.
    pub(super) fn expect(&mut self, name: &str, supported: &str) {
        if let Some(text) = self.text(name).filter(|text| !text.eq_ignore_ascii_case(supported)) {
            self.warn(name, &format!("'{text}' is not supported; {supported} applies"));
        }
    }

    /// Adds a warning about the value of a variable.
    pub(super) fn warn(&mut self, name: &str, message: &str) {
        self.warnings.push(format!("{name}: {message}"));
    }
}
