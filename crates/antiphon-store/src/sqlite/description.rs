//! Describes a database file for an operator. Creates and migrates nothing.

use std::path::Path;

use super::inspect::is_absent;
use super::{connection, permissions, platform, schema};
use crate::description::StoreDescription;
use crate::error::StoreError;

/// Describes the file at `path`, whether or not a process has it open.
pub(crate) fn describe_file(path: &Path) -> Result<StoreDescription, StoreError> {
    let path =
        std::path::absolute(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    let tables = match is_absent(&path)? {
        true => None,
        false => schema::version(&connection::open_existing(&path)?)?,
    };
    Ok(StoreDescription {
        tables,
        free_bytes: path.parent().and_then(|directory| platform::free_space(directory).ok()),
        shared_files: permissions::shared_files(&path),
        ..describe_memory()
    })
}

/// Describes a database in memory.
pub(crate) fn describe_memory() -> StoreDescription {
    StoreDescription {
        software: format!("SQLite {}", rusqlite::version()),
        latest_tables: schema::latest(),
        ..StoreDescription::default()
    }
}
