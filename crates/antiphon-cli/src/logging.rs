//! Logs, on standard error.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::settings::Environment;

/// Sends what the process logs to standard error: `ANTIPHON_LOG` says what (a filter; see [`DEFAULT`]),
/// `ANTIPHON_LOG_FORMAT` how (`text` or `json`).
pub(crate) fn install(environment: impl Environment) -> Result<(), Failure> {
    let filter = filter(environment("ANTIPHON_LOG")?)?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr);
    match environment("ANTIPHON_LOG_FORMAT")?.as_deref() {
        None | Some("text") => logs.compact().init(),
        Some("json") => logs.json().init(),
        Some(other) => {
            let sentence = format!("ANTIPHON_LOG_FORMAT: '{other}' is neither text nor json");
            return Err(Failure::usage(sentence));
        }
    }
    Ok(())
}

/// What the parts that are not ours have to say at `info` is of no use to an operator.
const DEFAULT: &str = "warn,antiphon=info,antiphon_gateway=info,antiphon_store=info";

fn filter(text: Option<String>) -> Result<EnvFilter, Failure> {
    let text = text.unwrap_or_else(|| DEFAULT.to_owned());
    EnvFilter::try_new(&text).map_err(|error| {
        Failure::usage(format!("ANTIPHON_LOG: '{text}' is not a log filter: {error}"))
    })
}
