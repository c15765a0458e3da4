//! Inspects a database file before a gateway starts. Creates and migrates nothing.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::process;

use rusqlite::{Connection, MAIN_DB};

use super::{SqliteSnapshot, connection, platform, schema};
use crate::error::StoreError;
use crate::snapshot::StoreState;

type Result<T> = std::result::Result<T, StoreError>;

/// Inspects the file at `path`, whether or not a process has it open.
///
/// # Errors
/// Fails if a gateway could not start on the file: it cannot be created or written, it holds
/// another application's database, or a newer release wrote it.
pub(crate) fn inspect(path: &Path) -> Result<StoreState> {
    let path =
        std::path::absolute(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    if is_absent(&path)? {
        check_creatable(&path)?;
        return Ok(StoreState::Absent);
    }
    let db = connection::open_existing(&path)?;
    check_writable(&db, &path)?;
    schema::check_owner(&db)?;
    if schema::is_outdated(&db)? {
        return Ok(StoreState::Outdated);
    }
    drop(db);
    Ok(StoreState::Current(Box::new(SqliteSnapshot::take(&path)?)))
}

/// An empty file counts as absent: a gateway creates its tables in it.
pub(super) fn is_absent(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(file) => Ok(file.is_file() && file.len() == 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(unusable(path, &error.to_string())),
    }
}

/// Creates a file next to `path` and removes it again. Permissions alone cannot show that a file
/// system is read-only or full.
fn check_creatable(path: &Path) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".check-{}", process::id()));
    let mut options = OpenOptions::new();
    let options = platform::set_private(options.write(true).create_new(true));
    let created = options.open(&name);
    created.and_then(|_| fs::remove_file(&name)).map_err(|error| {
        unusable(path, &format!("no file can be created in its directory: {error}"))
    })
}

fn check_writable(db: &Connection, path: &Path) -> Result<()> {
    match db.is_readonly(MAIN_DB)? {
        false => Ok(()),
        true => Err(unusable(path, "the file is read-only")),
    }
}

fn unusable(path: &Path, reason: &str) -> StoreError {
    StoreError::Unavailable(format!("{}: {reason}", path.display()))
}
