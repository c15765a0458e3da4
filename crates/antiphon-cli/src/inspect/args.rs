//! The arguments of `inspect`.

use std::num::NonZeroU16;

use antiphon_gateway::inspect::ListPart;
use antiphon_gateway::settings::Secret;
use clap::Args;
use clap::builder::{PossibleValuesParser, StringValueParser, TypedValueParser as _};

/// The arguments of `inspect`.
#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// Id of a conversation, or of a response of a chain [default: list all]
    #[arg(value_name = "CONVERSATION")]
    pub(super) conversation: Option<String>,
    /// URL of the store, as for `antiphon serve`
    #[arg(long, value_name = "URL", conflicts_with = "url")]
    pub(super) store: Option<String>,
    /// URL of a running gateway, such as `http://127.0.0.1:8484`
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Tenant, by the name that `antiphon tenants` shows; for --store [default: the only one]
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(super) tenant: Option<String>,
    /// Key that the clients of these conversations send; for --url
    #[arg(
        long,
        value_name = "KEY",
        requires = "url",
        value_parser = StringValueParser::new().map(Secret::new)
    )]
    pub(super) key: Option<Secret>,
    /// Text that the id, the metadata or the items contain; for the list
    #[arg(long, value_name = "TEXT", conflicts_with = "conversation")]
    pub(super) search: Option<String>,
    /// Conversations to list [default: all]
    #[arg(
        long,
        value_name = "PART",
        conflicts_with = "conversation",
        value_parser = PossibleValuesParser::new(ListPart::ALL.map(|(name, _)| name))
            .map(|name| list_part(&name))
    )]
    pub(super) show: Option<ListPart>,
    /// Number of conversations, or of the newest turns
    #[arg(long, value_name = "COUNT", default_value = "20")]
    pub(super) limit: NonZeroU16,
    /// Print JSON: one object per line
    #[arg(long)]
    pub(super) json: bool,
    /// Print again after each change, until interrupted
    #[arg(long)]
    pub(super) follow: bool,
}

/// The part with this name, which was checked.
fn list_part(name: &str) -> ListPart {
    let found = ListPart::ALL.into_iter().find(|(known, _)| *known == name);
    found.expect("clap accepts the names of parts only").1
}
