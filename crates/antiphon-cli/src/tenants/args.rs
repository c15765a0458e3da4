//! The arguments of `tenants`, `export` and `erase`.

use std::path::PathBuf;

use clap::Args;

use crate::settings::ServeArgs;

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

impl From<StoreArgs> for ServeArgs {
    fn from(args: StoreArgs) -> Self {
        Self { store: args.store, ..Self::default() }
    }
}

pub(crate) const LINES: &str = "\
A gateway may run meanwhile: what is written is what was held at one moment. As long as it is being
written, the database keeps what is deleted meanwhile.

Every line is a JSON object:
  {\"object\":\"export\",\"version\":1,\"tenant\":NAME}                       the first
  {\"object\":\"conversation\",\"id\":ID,\"created_at\":…,\"metadata\":{…}}     and then its items in order:
  {\"object\":\"conversation.item\",\"conversation\":ID,\"id\":ID,\"item\":{…}}
  {\"object\":\"response\",\"id\":ID,…,\"output\":[…]}                        as the API shows it, then
  {\"object\":\"response.input_item\",\"response\":ID,\"id\":ID,\"item\":{…}}   its input items in order, and
  {\"object\":\"response.report\",\"response\":ID,\"report\":{…}}             what was mended in its turn
  {\"object\":\"open_turn\",\"response\":{…}}                               a turn that has not ended, then
                                                                    its input items
  {\"object\":\"item\",\"id\":ID,\"item\":{…}}                                an item of no conversation and no
                                                                    response that is left, which later
                                                                    ones go on from
  {\"object\":\"export.end\",\"lines\":COUNT}                               the last, and how many came before

An item has the bytes that came, with blanks for line ends. Of one that was deleted, 'deleted' is true
in the place of 'item'. A background response is written once it has ended. Where the last line is missing, the export is not whole.

ANTIPHON_STORE and ANTIPHON_SECRET stand for --store and --secret.";

pub(crate) const ERASURE: &str = "\
Everything goes: conversations, responses, items, what is left of deleted items, and open turns.
Nothing brings it back.

In a file, the gateway has to be stopped, and the file is written anew, so that nothing of it is left
there; that takes as much free space as the file has. In PostgreSQL, gateways may run, and open turns of the
tenant end in an error; take the tenant's access away before, since what it does afterwards is kept.
The bytes are gone once the database has vacuumed its tables, and are still in its backups.

An erasure that was interrupted goes on where it is begun again.
ANTIPHON_STORE and ANTIPHON_SECRET stand for --store and --secret.";
