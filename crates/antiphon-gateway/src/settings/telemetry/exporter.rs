//! The receiver of telemetry.

use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use super::Signal;
use super::variables::Variables;
use crate::settings::Secret;

/// The endpoint without a variable, where a collector on the same machine listens.
const LOCAL_COLLECTOR: &str = "http://localhost:4318";

with_defaults! {
    /// A receiver of OTLP over HTTP, with protobuf.
    #[derive(Clone, Debug)]
    pub struct OtlpExporter {
        /// Its URL.
        pub endpoint: Uri = Uri::from_static("http://localhost:4318"),
        /// Additional headers. Their values are often keys.
        pub headers: Vec<(HeaderName, Secret)> = Vec::new(),
        /// The time limit of an export, retries included.
        pub timeout: Duration = Duration::from_secs(10),
        /// Whether the bodies of requests are compressed with gzip.
        pub is_compressed: bool = false,
    }
}

impl OtlpExporter {
    /// Reads the receiver of a signal; `None` if the signal is not exported.
    pub(super) fn read(variables: &mut Variables<'_>, signal: Signal) -> Option<Self> {
        if !is_exported(variables, signal) {
            return None;
        }
        let (protocol, name) = setting(variables, signal, "PROTOCOL");
        if let Some(protocol) = protocol.filter(|protocol| protocol != "http/protobuf") {
            let signal = signal.name().to_ascii_lowercase();
            variables.warn(
                &name,
                &format!(
                    "'{protocol}' is not supported; no {signal} are exported; use http/protobuf"
                ),
            );
            return None;
        }
        warn_of_certificates(variables);
        let default = Self::default();
        Some(Self {
            endpoint: endpoint(variables, signal)?,
            headers: headers(variables, signal),
            timeout: timeout(variables, signal).unwrap_or(default.timeout),
            is_compressed: is_compressed(variables, signal),
        })
    }
}

/// Whether a signal is exported: if the exporter is named, or if an endpoint is set and the
/// exporter is not `none`. The standard's default is to export to a collector on the same machine;
/// here the default is not to export.
fn is_exported(variables: &mut Variables<'_>, signal: Signal) -> bool {
    let name = format!("OTEL_{}_EXPORTER", signal.name());
    let Some(text) = variables.text(&name) else {
        return setting(variables, signal, "ENDPOINT").0.is_some();
    };
    let exporters: Vec<&str> = text.split(',').map(str::trim).collect();
    for other in exporters.iter().filter(|exporter| !["otlp", "none"].contains(exporter)) {
        variables.warn(&name, &format!("'{other}' is not supported; use otlp or none"));
    }
    exporters.contains(&"otlp")
}

/// The value of a setting of the signal or else of all signals, and the name of its variable.
fn setting(variables: &Variables<'_>, signal: Signal, key: &str) -> (Option<String>, String) {
    let own = format!("OTEL_EXPORTER_OTLP_{}_{key}", signal.name());
    if let Some(text) = variables.text(&own) {
        return (Some(text), own);
    }
    let name = format!("OTEL_EXPORTER_OTLP_{key}");
    (variables.text(&name), name)
}

/// The URL of the signal: its own as it is, or that of all signals with a path.
fn endpoint(variables: &mut Variables<'_>, signal: Signal) -> Option<Uri> {
    let (text, name) = setting(variables, signal, "ENDPOINT");
    let is_own = name.contains(signal.name());
    let base = text.unwrap_or_else(|| LOCAL_COLLECTOR.to_owned());
    let url = match is_own {
        true => base.clone(),
        false => format!("{}{}", base.trim_end_matches('/'), signal.path()),
    };
    let is_http = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https"));
    let url = url.parse().ok().filter(is_http).filter(|url: &Uri| url.host().is_some());
    if url.is_none() {
        let signal = signal.name().to_ascii_lowercase();
        variables.warn(&name, &format!("not an http or https URL; no {signal} are exported"));
    }
    url
}

/// The headers: `key=value` pairs with commas between them and percent-encoded values.
fn headers(variables: &mut Variables<'_>, signal: Signal) -> Vec<(HeaderName, Secret)> {
    let (text, name) = setting(variables, signal, "HEADERS");
    let text = text.unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let mut headers = Vec::new();
    for (position, pair) in pairs.enumerate() {
        if let Some(header) = header(pair) {
            headers.push(header);
        } else {
            let entry = position + 1;
            variables.warn(&name, &format!("entry {entry} is not KEY=VALUE; it is ignored"));
        }
    }
    headers
}

fn header(pair: &str) -> Option<(HeaderName, Secret)> {
    let (name, value) = pair.split_once('=')?;
    let name = HeaderName::try_from(name.trim()).ok()?;
    let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
    HeaderValue::try_from(&*value).ok()?;
    Some((name, Secret::new(value)))
}

fn timeout(variables: &mut Variables<'_>, signal: Signal) -> Option<Duration> {
    let (_, name) = setting(variables, signal, "TIMEOUT");
    variables.milliseconds(&name)
}

fn is_compressed(variables: &mut Variables<'_>, signal: Signal) -> bool {
    let (text, name) = setting(variables, signal, "COMPRESSION");
    match text.as_deref() {
        None | Some("none") => false,
        Some("gzip") => true,
        Some(other) => {
            variables.warn(&name, &format!("'{other}' is not supported; use gzip or none"));
            false
        }
    }
}

/// TLS uses the public authorities, and no client certificate.
fn warn_of_certificates(variables: &mut Variables<'_>) {
    for name in [
        "OTEL_EXPORTER_OTLP_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        "OTEL_EXPORTER_OTLP_CLIENT_KEY",
    ] {
        if variables.text(name).is_some() {
            variables.warn(name, "not supported; TLS trusts the public authorities only");
        }
    }
}
