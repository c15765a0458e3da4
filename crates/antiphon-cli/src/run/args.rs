//! The arguments of `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use antiphon_gateway::settings::Secret;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser as _};

use super::agent::Agent;
use crate::settings::SettingsArgs;

/// The arguments of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Agent to run
    #[arg(value_enum)]
    pub(super) agent: Agent,
    /// URL of a running gateway, such as <http://127.0.0.1:8484>
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = ["config", "upstream", "upstream-api", "state", "store"]
    )]
    pub(super) url: Option<String>,
    /// API key of the gateway, if its settings have keys
    #[arg(long, value_name = "KEY", value_parser = StringValueParser::new().map(Secret::new))]
    pub(super) key: Option<Secret>,
    /// Settings file [default: antiphon.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Base URL of the upstream, as for `antiphon serve`
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// API of the upstream: responses, chat or anthropic
    #[arg(long = "upstream-api", id = "upstream-api", value_name = "API")]
    upstream_api: Option<String>,
    /// Owner of conversations, responses and their items: antiphon or upstream
    #[arg(long, value_name = "OWNER")]
    state: Option<String>,
    /// URL of the store [default: the one of the settings, or memory]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Model for the agent [default: its own, or sim without an upstream]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Print the address of the inspector, and open it in a browser
    #[arg(long)]
    pub(super) inspect: bool,
    /// File to which the gateway appends its log; without it, there is no log
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Arguments for the agent, after --
    #[arg(last = true, value_name = "ARGS")]
    pub(super) args: Vec<OsString>,
}

impl RunArgs {
    /// The settings among the arguments. The gateway takes a free port of this machine, and not
    /// the address of the other settings.
    pub(super) fn settings(&self) -> SettingsArgs {
        let options = [
            ("upstream", &self.upstream),
            ("upstream-api", &self.upstream_api),
            ("state", &self.state),
            ("store", &self.store),
        ];
        let given = options.into_iter().filter_map(|(key, text)| Some((key, text.clone()?)));
        let listen = ("listen", "127.0.0.1:0".to_owned());
        SettingsArgs::from_options(self.config.clone(), given.chain([listen]))
    }
}
