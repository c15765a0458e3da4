//! Returns the space of deleted data to the file system.

use std::time::Instant;

use rusqlite::Connection;

use crate::error::StoreError;

/// SQLite's number for `auto_vacuum = incremental`.
const INCREMENTAL: i64 = 2;

/// The largest file, in bytes of used pages, that is rewritten when it is opened. A rewrite of this
/// size takes about 10 seconds.
const REWRITE_LIMIT: i64 = 1 << 30;

/// The number of pages that one step moves. A turn waits for one step at most.
const STEP: i64 = 64;

/// The number of free pages that stay for new data: one megabyte.
const SPARE: i64 = 128;

/// The numbers of pages of a database.
const ALL_PAGES: &str = "page_count";
const FREE_PAGES: &str = "freelist_count";

/// Allows a database to shrink, if it is new or about to be rewritten. No effect on others.
pub(super) fn enable(db: &Connection) -> Result<(), StoreError> {
    if !is_enabled(db)? {
        db.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    }
    Ok(())
}

/// Rewrites a database of an earlier release, which cannot shrink. Leaves and logs a large
/// database, and one for which the disk lacks space.
pub(super) fn convert(db: &Connection) -> Result<(), StoreError> {
    if is_enabled(db)? {
        return Ok(());
    }
    let used = pragma(db, ALL_PAGES)? - pragma(db, FREE_PAGES)?;
    let bytes = used * pragma(db, "page_size")?;
    let file = db.path().unwrap_or_default();
    if bytes > REWRITE_LIMIT {
        tracing::warn!(
            file,
            bytes,
            "the database was created by an earlier release and never shrinks; to change that, \
             stop the gateway and run: sqlite3 FILE 'PRAGMA auto_vacuum = 2; VACUUM'",
        );
        return Ok(());
    }
    tracing::info!(
        file,
        bytes,
        "rewriting the database of an earlier release, so that it can shrink"
    );
    let begun = Instant::now();
    match db.execute_batch("VACUUM") {
        Ok(()) => {
            let milliseconds = begun.elapsed().as_millis();
            tracing::info!(file, milliseconds, "rewrote the database");
        }
        Err(error) => tracing::warn!(
            file,
            %error,
            "could not rewrite the database, which needs twice its size in free disk space; it \
             works, but its file does not shrink",
        ),
    }
    Ok(())
}

/// Shrinks a database in small steps: starts when more than an eighth of it is free, stops at a
/// sixteenth.
#[derive(Debug)]
pub(super) struct Vacuum {
    is_enabled: bool,
    is_running: bool,
    /// Whether all free pages but [`SPARE`] must be returned, because the disk is full.
    is_urgent: bool,
}

impl Vacuum {
    pub(super) fn new(db: &Connection) -> Result<Self, StoreError> {
        Ok(Self { is_enabled: is_enabled(db)?, is_running: false, is_urgent: false })
    }

    /// Makes the next steps return all free pages but [`SPARE`], even if few are free.
    pub(super) fn hurry(&mut self) {
        self.is_urgent = true;
    }

    /// Whether too many pages are free.
    pub(super) fn is_due(&mut self, db: &Connection) -> Result<bool, StoreError> {
        self.is_running = self.is_enabled && self.has_too_many_free_pages(db)?;
        self.is_urgent &= self.is_running;
        Ok(self.is_running)
    }

    fn has_too_many_free_pages(&self, db: &Connection) -> Result<bool, StoreError> {
        let free = pragma(db, FREE_PAGES)?;
        if free <= SPARE {
            return Ok(false);
        }
        let all = pragma(db, ALL_PAGES)?;
        Ok(match (self.is_urgent, self.is_running) {
            (true, _) => true,
            (false, true) => free > all / 16,
            (false, false) => free > all / 8,
        })
    }

    /// Moves a few pages.
    pub(super) fn step(db: &Connection) -> Result<(), StoreError> {
        // Each row stands for one moved page.
        let mut statement = db.prepare_cached(&format!("PRAGMA incremental_vacuum({STEP})"))?;
        let mut moved = statement.query([])?;
        while moved.next()?.is_some() {}
        Ok(())
    }
}

fn is_enabled(db: &Connection) -> Result<bool, StoreError> {
    Ok(pragma(db, "auto_vacuum")? == INCREMENTAL)
}

fn pragma(db: &Connection, name: &str) -> Result<i64, StoreError> {
    let mut statement = db.prepare_cached(&format!("PRAGMA {name}"))?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
