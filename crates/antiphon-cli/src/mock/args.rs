//! The arguments of `mock` and `sim`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `mock`.
#[derive(Args, Debug)]
pub(crate) struct MockArgs {
    /// Do not check requests against the stored state; the model may then receive an item twice
    #[arg(long)]
    pub(crate) lenient: bool,
    #[command(flatten)]
    pub(crate) behavior: Behavior,
}

/// The arguments of `sim`, the earlier form of `mock`.
#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// Reject the requests that OpenAI would reject, as `antiphon mock` does
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    behavior: Behavior,
}

impl From<SimArgs> for MockArgs {
    fn from(args: SimArgs) -> Self {
        Self { lenient: !args.strict, behavior: args.behavior }
    }
}

/// The behavior of the provider. `mock` parses the values.
#[derive(Args, Debug)]
pub(crate) struct Behavior {
    /// IP address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8485")]
    pub(crate) listen: String,
    /// Provider to imitate: openai, azure (no conversations) or open-responses (response chains
    /// only)
    #[arg(long, value_name = "NAME", default_value = "openai")]
    pub(crate) profile: String,
    /// Items to store from a turn whose caller disconnects: part, whole or nothing
    #[arg(long, value_name = "WHAT", default_value = "part")]
    pub(crate) on_abort: String,
    /// Answers for the first turns, before the provider's own model takes over: a JSON array
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Issue the same ids in every run with this text; without it, the ids of every run differ
    #[arg(long, value_name = "TEXT")]
    pub(crate) seed: Option<String>,
}
