//! `antiphon tenants`, `antiphon export`, `antiphon import` and `antiphon erase`: list, export,
//! import and erase the data of tenants in a store.

mod args;
mod counts;
mod erase;
mod import;
mod tenant_selector;

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use antiphon_gateway::export::ExportError;
use antiphon_store::{Snapshot, Store, StoreError};

pub(crate) use self::args::{EraseArgs, ExportArgs, ImportArgs, StoreArgs};
pub(crate) use self::erase::erase;
pub(crate) use self::import::import;
use self::tenant_selector::TenantSelector;
use crate::failure::Failure;
use crate::platform;
use crate::settings::{self, Access};

/// Prints one line per tenant with data in the store.
pub(crate) fn list(args: StoreArgs) -> Result<ExitCode, Failure> {
    let access = settings::access(args.store, Vec::new(), settings::environment)?;
    run(async {
        let mut snapshot = snapshot(&access).await?;
        let mut out = BufWriter::new(io::stdout().lock());
        let mut last = None;
        while let Some(tenant) =
            snapshot.next_tenant(last.as_ref()).await.map_err(|error| store_failure(&error))?
        {
            let held = snapshot.count_data(&tenant).await.map_err(|error| store_failure(&error))?;
            let usage = snapshot.usage(&tenant).await.map_err(|error| store_failure(&error))?;
            writeln!(out, "{}", counts::to_json_line(&tenant, &held, usage))
                .map_err(|error| Failure::output(&error))?;
            last = Some(tenant);
        }
        out.flush().map_err(|error| Failure::output(&error))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Writes all data of a tenant.
pub(crate) fn export(args: ExportArgs) -> Result<ExitCode, Failure> {
    let selector = TenantSelector::from_args(args.tenant)?;
    run(async {
        let mut snapshot = snapshot(&selector.access).await?;
        let (tenant, _) = selector.find(&mut *snapshot).await?;
        let mut out = BufWriter::new(output(args.output.as_deref())?);
        antiphon_gateway::export::export(&mut *snapshot, &tenant, &mut out).await.map_err(
            |error| match error {
                ExportError::Output(error) if args.output.is_none() => Failure::output(&error),
                error => Failure::runtime(error.to_string()),
            },
        )?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The destination of the lines. A file is created, with access for its owner only.
fn output(path: Option<&Path>) -> Result<Box<dyn Write + Send>, Failure> {
    let Some(path) = path else { return Ok(Box::new(io::stdout())) };
    let file = platform::set_private(OpenOptions::new().write(true).create_new(true)).open(path);
    let file = file.map_err(|error| {
        Failure::usage(format!("--output: {} cannot be created: {error}", path.display()))
    })?;
    Ok(Box::new(file))
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
    antiphon_store::snapshot(&access.store).await.map_err(|error| Failure::store_not_opened(&error))
}

/// Opens a store to change a tenant's data. `next` is the step after the gateway was stopped.
async fn open(access: &Access, next: &str) -> Result<Arc<dyn Store>, Failure> {
    antiphon_store::open(&access.store).await.map_err(|error| {
        match Failure::store_not_opened(&error) {
            Failure::Runtime(sentence) if access.store.starts_with("sqlite:") => Failure::runtime(
                format!("{sentence}; if a gateway has the file open, stop it, then {next}"),
            ),
            failure => failure,
        }
    })
}

fn store_failure(error: &StoreError) -> Failure {
    Failure::runtime(error.to_string())
}
