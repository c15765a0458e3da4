//! The arguments of `antiphon serve`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `serve`, as unparsed texts. Settings from the command line, the environment and
/// the file are parsed in one place.
#[derive(Args, Debug, Default)]
pub(crate) struct ServeArgs {
    /// Settings file [default: antiphon.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Check the settings, the store and the secret, then exit: with code 0, or with the error that
    /// a start would have
    #[arg(long)]
    pub(crate) check: bool,
    /// IP address and port to listen on; port 0 selects a free port [default: 127.0.0.1:8484]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// URL of the store for conversations [default: sqlite:antiphon.db]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Base URL, ending in /v1, of the upstream for all models except `sim`
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// API of the upstream: responses, chat or anthropic [default: responses]
    #[arg(long, value_name = "API")]
    pub(crate) upstream_api: Option<String>,
    /// API key for the upstream; without it, callers' own tokens are forwarded
    #[arg(long, value_name = "KEY")]
    pub(crate) upstream_key: Option<String>,
    /// Owner of conversations, responses and their items: antiphon or upstream [default: antiphon]
    #[arg(long, value_name = "OWNER")]
    pub(crate) state: Option<String>,
    /// Stored part of each item that an upstream owns: heads or bodies [default: heads]
    #[arg(long, value_name = "WHAT")]
    pub(crate) ledger: Option<String>,
    /// Handling of input that a provider would reject: repair or reject [default: repair]
    #[arg(long, value_name = "WAY")]
    pub(crate) faults: Option<String>,
    /// API key for callers, or its hash (antiphon hash-key), and the tenant that it identifies
    #[arg(long, value_name = "KEY=TENANT", num_args = 1..)]
    pub(crate) api_key: Vec<String>,
    /// Header in which a trusted proxy names the tenant; the proxy must not let callers set it
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant_header: Option<String>,
    /// Origin of a web page that may use the gateway: a scheme and a host
    #[arg(long, value_name = "ORIGIN", num_args = 1..)]
    pub(crate) allow_origin: Vec<String>,
    /// Additional host name by which clients reach a gateway that listens on a loopback address
    /// without API keys
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) allow_host: Vec<String>,
    /// Secret that encrypts the gateway's key in its store, 16 characters or more; to rotate it,
    /// give the new secret and then the old one
    #[arg(long, value_name = "SECRET", num_args = 1..)]
    pub(crate) secret: Vec<String>,
    /// Seconds that a turn waits for another open turn of its conversation [default: 30]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) turn_wait: Option<String>,
    /// Handling of a turn whose caller disconnects: settle or finish [default: settle]
    #[arg(long, value_name = "WAY")]
    pub(crate) on_disconnect: Option<String>,
    /// Event names of raw reasoning: openai or open-responses [default: openai]
    #[arg(long, value_name = "WHOSE")]
    pub(crate) event_names: Option<String>,
    /// Days to store responses; 0 or never keeps them until deleted [default: 30]
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
    pub(crate) retention: Option<String>,
    /// Seconds that a stop waits for open turns before it settles them [default: 25]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) shutdown_grace: Option<String>,
    /// Maximum number of open turns per tenant [default: 10000]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_open_turns: Option<String>,
    /// Maximum number of requests per second, per tenant and process [default: unlimited]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) requests_per_second: Option<String>,
    /// Maximum size in bytes of the stored items of one tenant [default: unlimited]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub(crate) max_tenant_bytes: Option<String>,
    /// Maximum number of stored items of one tenant [default: unlimited]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_tenant_items: Option<String>,
    /// Maximum size in bytes of the stored items of one conversation [default: unlimited]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub(crate) max_conversation_bytes: Option<String>,
    /// Maximum number of stored items of one conversation [default: unlimited]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_conversation_items: Option<String>,
    /// API requests to forward to upstreams if the gateway has no route for them: all, stateless or
    /// none [default: stateless if several tenants share an --upstream-key, else all]
    #[arg(long, value_name = "WHAT")]
    pub(crate) pass_through: Option<String>,
}
