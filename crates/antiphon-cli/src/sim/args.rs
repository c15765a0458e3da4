//! The arguments of `sim`.

use std::path::PathBuf;

use clap::Args;

/// The behavior of the simulated provider. `sim` parses the values.
#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// Reject the requests that OpenAI would reject, with its error texts; without this, a request
    /// is not checked against the stored state
    #[arg(long)]
    pub(crate) strict: bool,
    /// IP address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8485")]
    pub(crate) listen: String,
    /// Provider to simulate: openai, azure (no conversations) or open-responses (response chains
    /// only)
    #[arg(long, value_name = "NAME", default_value = "openai")]
    pub(crate) profile: String,
    /// Items to store from a turn whose caller disconnects: part, whole or nothing
    #[arg(long, value_name = "WHAT", default_value = "part")]
    pub(crate) on_abort: String,
    /// Answers for the first turns, before the built-in model takes over: a JSON array
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
}
