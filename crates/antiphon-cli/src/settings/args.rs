//! The arguments of `antiphon serve`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `serve`, as texts: settings from the command line, the environment and the file
/// are parsed in one place.
#[derive(Args, Debug, Default)]
pub(crate) struct ServeArgs {
    /// The file of settings; antiphon.toml, if there is one, when none is named
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Check the settings, the store and the secret, and exit: with 0, or with the error that a start
    /// would have
    #[arg(long)]
    pub(crate) check: bool,
    /// The IP address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8484]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Where conversations are kept [default: sqlite:antiphon.db]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Where models other than `sim` are: a base URL that ends in /v1
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// What the upstream speaks: responses, chat or anthropic [default: responses]
    #[arg(long, value_name = "API")]
    pub(crate) upstream_api: Option<String>,
    /// The key to present to the upstream; without it, callers' own tokens are forwarded
    #[arg(long, value_name = "KEY")]
    pub(crate) upstream_key: Option<String>,
    /// Who keeps conversations, responses and their items: antiphon or upstream [default: antiphon]
    #[arg(long, value_name = "OWNER")]
    pub(crate) state: Option<String>,
    /// What is kept of items that an upstream keeps: heads or bodies [default: heads]
    #[arg(long, value_name = "WHAT")]
    pub(crate) ledger: Option<String>,
    /// What to do with input that a provider would refuse: repair or reject [default: repair]
    #[arg(long, value_name = "WAY")]
    pub(crate) faults: Option<String>,
    /// A key that callers may present, or its hash (antiphon hash-key), and the tenant that it
    /// stands for
    #[arg(long, value_name = "KEY=TENANT", num_args = 1..)]
    pub(crate) api_key: Vec<String>,
    /// The header in which a trusted proxy names the tenant; it must not let callers set it
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant_header: Option<String>,
    /// The origin of a web page that may use the gateway: a scheme and a host
    #[arg(long, value_name = "ORIGIN", num_args = 1..)]
    pub(crate) allow_origin: Vec<String>,
    /// A host name, beside this machine's own, by which clients reach a gateway that listens on a
    /// loopback address without API keys
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) allow_host: Vec<String>,
    /// What encrypts the gateway's own key in its store, 16 characters or more; to change it, give
    /// the new one and then the old one
    #[arg(long, value_name = "SECRET", num_args = 1..)]
    pub(crate) secret: Vec<String>,
    /// How many seconds a turn waits for an open one of its conversation [default: 30]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) turn_wait: Option<String>,
    /// What becomes of a turn whose caller leaves: settle or finish [default: settle]
    #[arg(long, value_name = "WAY")]
    pub(crate) on_disconnect: Option<String>,
    /// Whose names raw reasoning's events have: openai or open-responses [default: openai]
    #[arg(long, value_name = "WHOSE")]
    pub(crate) event_names: Option<String>,
    /// How many days responses are kept; 0 or never: until they are deleted [default: 30]
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
    pub(crate) retention: Option<String>,
    /// How many seconds a stop waits for open turns before it settles them [default: 25]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) shutdown_grace: Option<String>,
    /// How many turns of one tenant may be open at once [default: 10000]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_open_turns: Option<String>,
    /// How many requests a second one tenant may send this process [default: any number]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) requests_per_second: Option<String>,
    /// How many bytes of items one tenant may have stored [default: any number]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub(crate) max_tenant_bytes: Option<String>,
    /// How many items one tenant may have stored [default: any number]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_tenant_items: Option<String>,
    /// How many bytes of items one conversation may have stored [default: any number]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub(crate) max_conversation_bytes: Option<String>,
    /// How many items one conversation may have stored [default: any number]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(crate) max_conversation_items: Option<String>,
    /// What passes to upstreams of the API's parts that are not the gateway's own: all, stateless or
    /// none [default: stateless where several tenants share an --upstream-key, else all]
    #[arg(long, value_name = "WHAT")]
    pub(crate) pass_through: Option<String>,
}
