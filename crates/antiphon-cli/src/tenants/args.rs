//! What the commands are told.

use std::path::PathBuf;

use clap::Args;

use crate::settings::ServeArgs;

/// Which store.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// Where conversations are kept, as `antiphon serve` is told
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// Whose data.
#[derive(Args, Debug)]
pub(crate) struct TenantArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// The tenant, by the name that logs and `antiphon tenants` give it
    #[arg(long, value_name = "NAME", required_unless_present = "token_env")]
    pub(crate) tenant: Option<String>,
    /// The variable that holds a caller's token, whose tenant is meant; for gateways that forward
    /// callers' own tokens
    #[arg(long, value_name = "VARIABLE", conflicts_with = "tenant")]
    pub(crate) token_env: Option<String>,
    /// With --token-env: what encrypts the gateway's own key in its store, if anything does
    #[arg(long, value_name = "SECRET", num_args = 1..)]
    pub(crate) secret: Vec<String>,
}

/// What `export` is told.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) whose: TenantArgs,
    /// The file to write, which must not exist; standard output where none is named
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What `erase` is told.
#[derive(Args, Debug)]
pub(crate) struct EraseArgs {
    #[command(flatten)]
    pub(crate) whose: TenantArgs,
    /// Erase it; without this, what would be erased is told, and the exit code is 1
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
