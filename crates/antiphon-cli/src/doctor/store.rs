//! The store: whether it opens, its tables, its secret, its files and the free space.

use std::future::Future;
use std::time::Duration;

use antiphon_store::{StoreDescription, StoreState};
use tokio::time;

use super::finding::Finding;
use crate::failure::Failure;
use crate::settings::Configuration;
use crate::{platform, preflight};

/// The free space below which a warning is due: a migration copies the whole file.
const FEW_BYTES: u64 = 1 << 30;

const CHECK: &str = "store";
const FILES: &str = "store files";

/// Checks the store and its secret. Creates and migrates nothing.
pub(super) async fn check(configuration: &Configuration, timeout: Duration) -> Vec<Finding> {
    let state = within(timeout, preflight::inspect_store(configuration)).await;
    let description = within(timeout, describe(configuration)).await;
    let (state, description) = match (state, description) {
        (Ok(state), Ok(description)) => (state, description),
        (Err(failure), _) | (_, Err(failure)) => {
            return vec![Finding::failed(CHECK, failure.to_string()).next(next(configuration))];
        }
    };
    let mut findings = vec![opened(configuration, &state, &description)];
    findings.extend(disk(&description));
    findings.push(secret(configuration, state, timeout).await);
    findings.extend(files(&description));
    let is_in_files = description.free_bytes.is_some();
    if is_in_files && !platform::HAS_MODES {
        let detail = "the permissions of files are not checked on this system; keep the store in \
                      a directory that only its user can read";
        findings.push(Finding::ok(FILES, detail));
    }
    findings
}

async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let timed_out = |_| Failure::runtime(format!("the store did not answer within {timeout:?}"));
    time::timeout(timeout, work).await.map_err(timed_out)?
}

async fn describe(configuration: &Configuration) -> Result<StoreDescription, Failure> {
    let description = antiphon_store::describe(&configuration.store).await;
    description.map_err(|error| Failure::store_not_opened(&error))
}

fn next(configuration: &Configuration) -> &'static str {
    match is_file(configuration) {
        true => "Check --store, and the permissions of the file and of its directory.",
        false => "Check --store, the server, its network and the rights of its user.",
    }
}

fn is_file(configuration: &Configuration) -> bool {
    configuration.store.starts_with("sqlite:")
}

fn opened(
    configuration: &Configuration,
    state: &StoreState,
    description: &StoreDescription,
) -> Finding {
    let StoreDescription { software, tables, latest_tables, .. } = description;
    let found = tables.unwrap_or_default();
    let detail = match state {
        _ if configuration.store == "sqlite::memory:" => {
            "in memory; conversations end with the process".to_owned()
        }
        StoreState::Absent => preflight::ABSENT.to_owned(),
        StoreState::Outdated => {
            format!("{}, from version {found} to {latest_tables}", preflight::OUTDATED)
        }
        StoreState::Current(_) => {
            format!("opens and can be written; its tables have version {found}")
        }
    };
    let finding = Finding::ok(CHECK, format!("{software}, {detail}"));
    match state {
        StoreState::Outdated => finding.next("Back it up before the next start."),
        _ => finding,
    }
}

fn disk(description: &StoreDescription) -> Option<Finding> {
    const CHECK: &str = "disk";
    let bytes = description.free_bytes?;
    let detail = format!("{} MB are free for the store", bytes / 1_000_000);
    Some(match bytes < FEW_BYTES {
        true => Finding::warning(CHECK, detail)
            .next("Free some space, or move the store: a full disk ends all turns."),
        false => Finding::ok(CHECK, detail),
    })
}

async fn secret(configuration: &Configuration, state: StoreState, timeout: Duration) -> Finding {
    const CHECK: &str = "secret";
    let is_set = !configuration.gateway.secrets.is_empty();
    match state {
        StoreState::Outdated => Finding::ok(CHECK, preflight::SECRET_NOT_CHECKED),
        StoreState::Absent if is_set => Finding::ok(CHECK, "set; the new store will need it"),
        StoreState::Absent => Finding::ok(CHECK, "not set; the key in the store is not encrypted"),
        StoreState::Current(mut snapshot) => {
            match within(timeout, preflight::check_secret(&mut *snapshot, configuration)).await {
                Ok(()) if is_set => Finding::ok(CHECK, "opens the key in the store"),
                Ok(()) => Finding::ok(CHECK, "not set; the key in the store is not encrypted"),
                Err(failure) => Finding::failed(CHECK, failure.to_string())
                    .next("Give the secret with which the store was opened last, in --secret."),
            }
        }
    }
}

fn files(description: &StoreDescription) -> impl Iterator<Item = Finding> {
    description.shared_files.iter().map(|(path, mode)| {
        let name = path.display();
        let detail = format!("other users can access {name} (mode {mode:04o})");
        Finding::warning(FILES, detail).next(format!("Run: chmod 600 {name}"))
    })
}
