//! The tables, and the migration of files of earlier versions.

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use super::move_items::move_items;
use crate::error::StoreError;

/// The steps from an empty file to the current tables. The statements of a released step never
/// change.
fn steps() -> [M<'static>; 14] {
    [
        M::up(include_str!("schema.sql")),
        M::up(include_str!("requests.sql")),
        M::up(include_str!("retention.sql")),
        M::up(include_str!("background.sql")),
        M::up(include_str!("webhooks.sql")),
        M::up(include_str!("ledgers.sql")),
        M::up(include_str!("late_binding.sql")),
        M::up(include_str!("usage.sql")),
        M::up(include_str!("watches.sql")),
        M::up(include_str!("copies.sql")),
        M::up_with_hook(include_str!("segments.sql"), move_items),
        M::up(include_str!("moved.sql")),
        M::up(include_str!("listings.sql")),
        M::up(include_str!("records_last.sql")),
    ]
}

/// The version of the current tables.
pub(super) fn latest() -> usize {
    steps().len()
}

/// The application id that marks a file as ours. The first step writes it.
const APPLICATION: i32 = 0x416e_7470;

/// Rejects a file that holds another application's database.
pub(super) fn check_owner(db: &Connection) -> Result<(), StoreError> {
    let application: i32 = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let is_empty: bool =
        db.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?;
    if application == APPLICATION || (application == 0 && is_empty) {
        return Ok(());
    }
    Err(StoreError::Unavailable("the file holds another application's database".into()))
}

/// Migrates the tables to the current version.
pub(super) fn migrate(db: &mut Connection) -> Result<(), StoreError> {
    Migrations::new(steps().into())
        .to_latest(db)
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// The version of the tables of a file. `None` if the file has no tables of ours.
pub(super) fn version(db: &Connection) -> Result<Option<usize>, StoreError> {
    let found: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(found).ok().filter(|&version| version > 0))
}

/// Rejects a file whose tables a newer version wrote. Returns the version of its tables.
pub(super) fn check_known(db: &Connection) -> Result<usize, StoreError> {
    let found: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match usize::try_from(found) {
        Ok(version) if version <= latest() => Ok(version),
        _ => Err(StoreError::newer_schema(&file(db), found, latest())),
    }
}

/// Rejects a file whose tables are not of the current version.
pub(super) fn check_current(db: &Connection) -> Result<(), StoreError> {
    let found = check_known(db)?;
    if found == latest() {
        return Ok(());
    }
    Err(StoreError::Unavailable(format!(
        "{} was written by an earlier version of Antiphon (version {found} of its tables; this \
         one, {}, needs {}). Start a gateway on it to migrate it",
        file(db),
        env!("CARGO_PKG_VERSION"),
        latest(),
    )))
}

/// The name of the database in an error.
fn file(db: &Connection) -> String {
    let path = db.path().filter(|path| !path.is_empty());
    path.map_or_else(|| "the database in memory".into(), |path| format!("the file {path}"))
}

/// Whether the tables are those of an earlier version.
pub(super) fn is_outdated(db: &Connection) -> Result<bool, StoreError> {
    let version: i32 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(version).is_ok_and(|version| version < latest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_migration_step_applies() {
        Migrations::new(steps().into()).validate().unwrap();
    }

    #[test]
    fn foreign_database_is_rejected() {
        let mut ours = Connection::open_in_memory().unwrap();
        assert_eq!(check_owner(&ours), Ok(()));
        migrate(&mut ours).unwrap();
        assert_eq!(check_owner(&ours), Ok(()));

        let theirs = Connection::open_in_memory().unwrap();
        theirs.execute_batch("CREATE TABLE notes (text)").unwrap();
        assert!(matches!(check_owner(&theirs), Err(StoreError::Unavailable(_))));
    }

    #[test]
    fn newer_schema_version_is_rejected() {
        let db = Connection::open_in_memory().unwrap();
        db.pragma_update(None, "user_version", 1000).unwrap();
        let refusal = check_known(&db).unwrap_err().to_string();
        assert!(refusal.contains("(version 1000 of its tables; this one, 0."), "{refusal}");
        assert!(refusal.contains("Start the release that wrote it"), "{refusal}");
    }
}
