//! Logs, on standard error. No log level shows a key, a token or the content of an item.

use std::fs::OpenOptions;
use std::io;
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::failure::Failure;
use crate::platform;
use crate::settings::{Environment, LOG, LOG_FORMAT};

/// Sends the logs of the process to standard error.
///
/// `ANTIPHON_LOG` is the filter (see [`DEFAULT_FILTER`] and [`is_discreet`]);
/// `ANTIPHON_LOG_FORMAT` is `text` or `json`.
pub(crate) fn install(environment: impl Environment) -> Result<LogFormat, Failure> {
    install_with(environment, platform::shows_colors(&io::stderr()), io::stderr)
}

/// Appends the logs of the process to a file, as [`install`] sends them to standard error.
pub(crate) fn install_in(path: &Path, environment: impl Environment) -> Result<(), Failure> {
    let file = platform::set_private(OpenOptions::new().create(true).append(true)).open(path);
    let file = file.map_err(|error| {
        Failure::usage(format!("--log: {} cannot be opened: {error}", path.display()))
    })?;
    install_with(environment, false, Arc::new(file)).map(drop)
}

fn install_with(
    environment: impl Environment,
    ansi: bool,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> Result<LogFormat, Failure> {
    let filter = filter(environment(LOG)?)?;
    let format = format(environment(LOG_FORMAT)?.as_deref())?;
    subscriber(filter, format, ansi, writer).init();
    if format == LogFormat::Json {
        std::panic::set_hook(Box::new(log_panic));
    }
    Ok(format)
}

/// Logs a panic as a line of JSON.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let payload = panic.payload_as_str();
    tracing::error!(place, payload, "panicked");
}

/// Prints the failure on standard error, in the format of the log.
pub(crate) fn print_failure(failure: &Failure, format: LogFormat) {
    match format {
        LogFormat::Text => eprintln!("error: {failure}"),
        LogFormat::Json => {
            let fields =
                serde_json::json!({"message": "the command failed", "error": failure.to_string()});
            eprintln!("{}", serde_json::json!({"level": "ERROR", "fields": fields}));
        }
    }
}

/// The format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// The default filter. Events of dependencies at `info` are of no use to an operator.
const DEFAULT_FILTER: &str = "warn,antiphon=info,antiphon_gateway=info,antiphon_store=info";

/// The most verbose level for events of dependencies, whatever the filter allows.
const MAX_DEPENDENCY_LEVEL: Level = Level::INFO;

/// Whether an event may be logged.
///
/// Events of our own crates name items and never quote them, at any level. Dependencies may log
/// user data below `info`: the PostgreSQL client, for example, logs the parameters of each
/// statement, which are complete items.
fn is_discreet(event: &Metadata<'_>) -> bool {
    let krate = event.target().split("::").next().unwrap_or_default();
    let is_ours = krate == "antiphon" || krate.starts_with("antiphon_");
    is_ours || *event.level() <= MAX_DEPENDENCY_LEVEL
}

fn subscriber(
    filter: EnvFilter,
    format: LogFormat,
    ansi: bool,
    writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    let lines = fmt::layer().with_ansi(ansi).with_writer(writer);
    let lines = match format {
        LogFormat::Text => lines.compact().boxed(),
        // Without targets, so that the line of a turn stays short.
        LogFormat::Json => lines.json().with_span_list(false).with_target(false).boxed(),
    };
    Registry::default().with(lines).with(filter).with(filter_fn(is_discreet))
}

fn filter(text: Option<String>) -> Result<EnvFilter, Failure> {
    let text = text.unwrap_or_else(|| DEFAULT_FILTER.to_owned());
    if let Some(word) = text.split(',').map(str::trim).find(|word| is_misspelt_level(word)) {
        return Err(Failure::usage(format!(
            "{LOG}: '{word}' is neither a level (off, error, warn, info, debug, trace) nor \
             TARGET=LEVEL"
        )));
    }
    EnvFilter::try_new(&text)
        .map_err(|error| Failure::usage(format!("{LOG}: '{text}' is not a log filter: {error}")))
}

/// Whether a word of a filter is a misspelt level. The filter would accept it as a target, and then
/// log no events of any other target.
fn is_misspelt_level(word: &str) -> bool {
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word && word != "antiphon" && word.parse::<LevelFilter>().is_err()
}

fn format(text: Option<&str>) -> Result<LogFormat, Failure> {
    match text {
        None | Some("text") => Ok(LogFormat::Text),
        Some("json") => Ok(LogFormat::Json),
        Some(other) => {
            let sentence = format!("{LOG_FORMAT}: '{other}' is neither text nor json");
            Err(Failure::usage(sentence))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// The log lines for events at every level from three crates, one of them ours.
    fn logged(filter: &str) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let writer = File::create(file.path()).unwrap();
        let filter = EnvFilter::try_new(filter).unwrap();
        let subscriber = subscriber(filter, LogFormat::Text, false, writer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::trace!(target: "antiphon_store::sqlite", "ours at trace");
            tracing::trace!(target: "tokio_postgres::query", "theirs at trace");
            tracing::debug!(target: "tokio_postgres::query", "theirs at debug");
            tracing::info!(target: "tokio_postgres::query", "theirs at info");
            tracing::debug!(target: "antiphonal", "theirs by a like name");
            tracing::error!(target: "h2", "theirs at error");
        });
        let lines = std::fs::read_to_string(file.path()).unwrap();
        let messages =
            lines.lines().map(|line| line.rsplit(": ").next().unwrap_or_default().to_owned());
        messages.collect()
    }

    #[test]
    fn dependencies_never_log_below_info() {
        let expected = ["ours at trace", "theirs at info", "theirs at error"];
        assert_eq!(logged("trace"), expected);
        assert_eq!(logged("trace,tokio_postgres=trace,h2=trace,antiphonal=trace"), expected);
        assert_eq!(logged("tokio_postgres::query=debug"), ["theirs at info"]);
    }

    #[test]
    fn filter_reduces_the_log() {
        assert_eq!(logged("warn"), ["theirs at error"]);
        assert_eq!(logged("off,antiphon_store=trace"), ["ours at trace"]);
        assert_eq!(logged("off"), Vec::<String>::new());
    }
}
