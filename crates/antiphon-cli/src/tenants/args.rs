//! The arguments of `tenants`, `export` and `erase`.

use std::path::PathBuf;

use clap::Args;

/// The store.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// URL of the store, as for `antiphon serve`
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The tenant.
#[derive(Args, Debug)]
pub(crate) struct TenantArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Tenant, by the name that logs and `antiphon tenants` show
    #[arg(long, value_name = "NAME", required_unless_present = "token_env")]
    pub(crate) tenant: Option<String>,
    /// Environment variable with the token of a caller, to select the caller's tenant; for gateways
    /// that forward callers' own tokens
    #[arg(long, value_name = "VARIABLE", conflicts_with = "tenant")]
    pub(crate) token_env: Option<String>,
    /// Secret that encrypts the gateway's key in the store, if any; used with --token-env
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

/// The arguments of `erase`.
#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
    /// Erase the data; without this, only report it and exit with code 1
    #[arg(long)]
    pub(crate) yes: bool,
}
