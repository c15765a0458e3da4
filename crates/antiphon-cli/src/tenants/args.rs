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
    pub(crate) whose: TenantArgs,
    /// File to create; must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The arguments of `erase`.
#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    pub(crate) whose: TenantArgs,
    /// Erase the data; without this, only report it and exit with code 1
    #[arg(long)]
    pub(crate) yes: bool,
}

pub(crate) const LINES: &str = "\
A gateway may run during the export: the export shows one moment. While it runs, the database keeps
data that is deleted meanwhile.

Every line is a JSON object:
  {\"object\":\"export\",\"version\":1,\"tenant\":NAME}                       the first line
  {\"object\":\"conversation\",\"id\":ID,\"created_at\":…,\"metadata\":{…}}     followed by its items in order:
  {\"object\":\"conversation.item\",\"conversation\":ID,\"id\":ID,\"item\":{…}}
  {\"object\":\"response\",\"id\":ID,…,\"output\":[…]}                        as the API shows it, followed by
  {\"object\":\"response.input_item\",\"response\":ID,\"id\":ID,\"item\":{…}}   its input items in order, and
  {\"object\":\"response.report\",\"response\":ID,\"report\":{…}}             the repairs of its turn
  {\"object\":\"open_turn\",\"response\":{…}}                               a turn that has not ended, followed by
                                                                    its input items
  {\"object\":\"item\",\"id\":ID,\"item\":{…}}                                an item of a deleted conversation or
                                                                    response, which a later response
                                                                    continues
  {\"object\":\"export.end\",\"lines\":COUNT}                               the last line, with the number of
                                                                    lines before it

An item has its original bytes, with blanks for line ends. A deleted item has \"deleted\":true instead
of 'item'. A background response is written after its end. Without the last line the export is
incomplete.

ANTIPHON_STORE and ANTIPHON_SECRET set --store and --secret.";

pub(crate) const ERASURE: &str = "\
This erases conversations, responses, items, the traces of deleted items, and open turns. It cannot
be undone.

Stop the gateway before you erase from a file. The file is rewritten, so that no byte of the tenant
stays in it; this takes as much free space as the file has. With PostgreSQL, gateways may run, and the
tenant's open turns end with an error. Revoke the tenant's access first, because later requests are
stored again. The bytes are gone after the database has vacuumed its tables; its backups keep them.

After an interruption, start the erasure again: it continues.
ANTIPHON_STORE and ANTIPHON_SECRET set --store and --secret.";
