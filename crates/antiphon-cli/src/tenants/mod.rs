//! `antiphon tenants`, `antiphon export` and `antiphon erase`: list, export and erase the data of
//! tenants in a store.

mod args;
mod counts;
mod erase;
mod export;
mod tenant_selector;

use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon_store::{OpenError, Snapshot, StoreError};

pub(crate) use self::args::{EraseArgs, ExportArgs, StoreArgs};
pub(crate) use self::erase::erase;
pub(crate) use self::export::export;
use crate::failure::Failure;
use crate::settings::{self, Access};

/// Prints one line per tenant with data in the store.
pub(crate) fn list(args: StoreArgs) -> Result<ExitCode, Failure> {
    let access = settings::access(args.store, Vec::new(), settings::environment)?;
    run(async {
        let mut snapshot = snapshot(&access).await?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut last = None;
        while let Some(tenant) =
            snapshot.next_tenant(last.as_ref()).await.map_err(|error| unread(&error))?
        {
            let held = snapshot.count_data(&tenant).await.map_err(|error| unread(&error))?;
            let usage = snapshot.usage(&tenant).await.map_err(|error| unread(&error))?;
            writeln!(out, "{}", counts::line(&tenant, &held, usage))
                .map_err(|error| unwritten(&error))?;
            last = Some(tenant);
        }
        out.flush().map_err(|error| unwritten(&error))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Runs a future on a new runtime.
fn run<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::runtime(format!("the runtime cannot be started: {error}")))?
        .block_on(work)
}

async fn snapshot(access: &Access) -> Result<Box<dyn Snapshot>, Failure> {
    antiphon_store::snapshot(&access.store).await.map_err(|error| unopened(&error))
}

fn unopened(error: &OpenError) -> Failure {
    Failure::runtime(format!("the store cannot be opened: {error}"))
}

fn unread(error: &StoreError) -> Failure {
    Failure::runtime(error.to_string())
}

fn unwritten(error: &io::Error) -> Failure {
    Failure::runtime(format!("the output cannot be written: {error}"))
}
