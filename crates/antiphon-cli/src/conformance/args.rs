//! The arguments of `conformance`.

use std::num::NonZeroU16;
use std::path::PathBuf;

use antiphon_gateway::settings::Secret;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser as _};

/// The arguments of `conformance`. `settings` parses the values.
#[derive(Args, Debug)]
pub(crate) struct ConformanceArgs {
    /// Base URL of the server, to which /responses and /conversations are appended; a query
    /// (?api-version=…) is added to each request
    #[arg(long, value_name = "URL")]
    pub(super) base_url: String,
    /// Key of the server [default: the environment variable `OPENAI_API_KEY`]
    #[arg(long, value_name = "KEY", value_parser = StringValueParser::new().map(Secret::new))]
    pub(super) key: Option<Secret>,
    /// Model that answers the few requests with an answer
    #[arg(long, value_name = "MODEL")]
    pub(super) model: String,
    /// Header for the key, in place of Authorization: `api-key` for Azure
    #[arg(long, value_name = "NAME")]
    pub(super) api_key_header: Option<String>,
    /// Time limit of each answer in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub(super) timeout: NonZeroU16,
    /// File for the report as JSON; an existing file is overwritten
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}
