//! The arguments of `tenants`, `export`, `import` and `erase`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// The store.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// URL of the store, as for `antiphon serve`
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The tenant.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("selection").required(true).args(["tenant", "token_env"])))]
pub(crate) struct TenantArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Tenant, by the name that logs and `antiphon tenants` show
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Environment variable with the token of a caller, to select the caller's tenant; for gateways
    /// that forward callers' own tokens
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) token_env: Option<String>,
    /// Secret that encrypts the gateway's key in the store, if any; used with --token-env and by
    /// `import`
    #[arg(long, value_name = "SECRET", num_args = 1..)]
    pub(crate) secret: Vec<String>,
}

/// The arguments of `export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    /// File to create; must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The arguments of `import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    /// Export of a tenant, or a list of items; several files are parts of one list
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Id of the conversation that a list of items becomes: `conv_` and 48 digits of 0-9 and a-f
    /// [default: one that depends on the items]
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,
    /// Order of a list of items: asc or desc [default: asc; found for pages of the API]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<String>,
    /// Print the report as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) quotas: QuotaArgs,
}

/// The quotas, as for `antiphon serve`.
#[derive(Args, Debug)]
pub(crate) struct QuotaArgs {
    /// Stored bytes of items of the tenant [default: unlimited]
    #[arg(long, value_name = "BYTES")]
    max_tenant_bytes: Option<String>,
    /// Stored items of the tenant [default: unlimited]
    #[arg(long, value_name = "COUNT")]
    max_tenant_items: Option<String>,
    /// Stored bytes of items of one conversation [default: unlimited]
    #[arg(long, value_name = "BYTES")]
    max_conversation_bytes: Option<String>,
    /// Stored items of one conversation [default: unlimited]
    #[arg(long, value_name = "COUNT")]
    max_conversation_items: Option<String>,
}

impl QuotaArgs {
    /// The given quotas, by the keys of their settings.
    pub(super) fn into_values(self) -> impl Iterator<Item = (&'static str, String)> {
        let given = [
            ("max-tenant-bytes", self.max_tenant_bytes),
            ("max-tenant-items", self.max_tenant_items),
            ("max-conversation-bytes", self.max_conversation_bytes),
            ("max-conversation-items", self.max_conversation_items),
        ];
        given.into_iter().filter_map(|(key, text)| Some((key, text?)))
    }
}

/// The arguments of `erase`.
#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    /// Erase the data; without this, only report it and exit with code 1
    #[arg(long)]
    pub(crate) yes: bool,
}
