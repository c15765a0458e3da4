//! The files of a new server.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use tokio::task::spawn_blocking;

use super::account::Account;
use super::programs::{self, Programs, stdout_of};

/// The name of the server's superuser.
pub(super) const USER: &str = "postgres";

/// The password of [`USER`]. It is not secret: a server is on loopback and has only test data.
pub(super) const PASSWORD: &str = "of-the-tests";

/// Creates the files of a new server in `folder`, which the account owns.
///
/// This takes a second, so a copy is cached for each version.
pub(super) async fn create(
    programs: &Programs,
    account: Account,
    folder: &Path,
) -> io::Result<PathBuf> {
    let files = folder.join("data");
    let kept = programs::cache().map(|cache| {
        let name = format!("{}-{INITDB_VERSION}", programs.version);
        cache.join("clusters").join(name)
    });
    match kept {
        Some(kept) if kept.exists() => copy(kept, files.clone(), account).await?,
        kept => {
            initialize(programs, account, folder, &files).await?;
            if let Some(kept) = kept {
                keep(files.clone(), kept).await?;
            }
        }
    }
    Ok(files)
}

async fn initialize(
    programs: &Programs,
    account: Account,
    folder: &Path,
    files: &Path,
) -> io::Result<()> {
    let password = folder.join("password");
    fs::write(&password, PASSWORD)?;
    account.chown_to(&password)?;
    let mut command = account.command(&programs.path("initdb"), folder);
    command.args(["--no-sync", "--no-instructions", "--wal-segsize=1"]);
    command.args(["--locale=C", "--encoding=UTF8", "--auth=scram-sha-256"]);
    command.arg(format!("--username={USER}")).arg("--pwfile").arg(&password);
    command.arg("--pgdata").arg(files);
    if programs.major() >= 16 {
        // Each connection computes all iterations, which costs time.
        command.args(["--set", "scram_iterations=1"]);
    }
    let output = Command::from(command).output().await?;
    stdout_of("initdb", &output)?;
    fs::remove_file(password)
}

async fn copy(from: PathBuf, to: PathBuf, account: Account) -> io::Result<()> {
    blocking(move || account.copy_folder(&from, &to)).await
}

/// Caches a copy for other servers, atomically. Another process may have been first.
async fn keep(files: PathBuf, kept: PathBuf) -> io::Result<()> {
    blocking(move || {
        let folder = kept.parent().expect("it is inside the cache");
        fs::create_dir_all(folder)?;
        let made = tempfile::tempdir_in(folder)?;
        let copied = made.path().join("data");
        Account::Own.copy_folder(&files, &copied)?;
        match fs::rename(&copied, &kept) {
            Err(_) if kept.exists() => Ok(()),
            renamed => renamed,
        }
    })
    .await
}

async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.expect("it does not panic")
}

/// The version of the arguments to `initdb`. Increase it when they change, so that files from
/// older arguments are not used.
const INITDB_VERSION: u32 = 2;
