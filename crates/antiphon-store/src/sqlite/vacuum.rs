//! Gives the space of deleted data back to the file system.

use std::time::Instant;

use rusqlite::Connection;

use crate::error::StoreError;

/// SQLite's number for `auto_vacuum = incremental`.
const INCREMENTAL: i64 = 2;

/// The largest file, in bytes of pages that are in use, that is rewritten when it is opened. It takes
/// about 10 seconds.
const REWRITE_LIMIT: i64 = 1 << 30;

/// How many pages one step moves. Turns wait for a step at the most.
const STEP: i64 = 64;

/// Fewer free pages than this, which are one megabyte, stay for new data.
const SPARE: i64 = 128;

/// Lets a database shrink, if it is new or is rewritten next. Does nothing to other databases.
pub(super) fn enable(db: &Connection) -> Result<(), StoreError> {
    if !is_enabled(db)? {
        db.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    }
    Ok(())
}

/// Rewrites a database that an earlier release made, which cannot shrink. A large one is left as it
/// is, and so is one for which there is no space: that is logged.
pub(super) fn convert(db: &Connection) -> Result<(), StoreError> {
    if is_enabled(db)? {
        return Ok(());
    }
    let bytes = Pages::count(db)?.used() * pragma(db, "page_size")?;
    let file = db.path().unwrap_or_default();
    if bytes > REWRITE_LIMIT {
        tracing::warn!(
            file,
            bytes,
            "the database was created by an earlier release and never shrinks; to change that, stop \
             the gateway and run: sqlite3 FILE 'PRAGMA auto_vacuum = 2; VACUUM'",
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
            "could not rewrite the database, which takes twice its size in free disk space; it works, \
             but does not shrink",
        ),
    }
    Ok(())
}

/// Shrinks a database in small steps, once an eighth of it is free, until a sixteenth is.
#[derive(Debug)]
pub(super) struct Vacuum {
    is_enabled: bool,
    is_running: bool,
    /// Whether every page is needed that can be given back, because the disk is full.
    is_urgent: bool,
}

impl Vacuum {
    pub(super) fn new(db: &Connection) -> Result<Self, StoreError> {
        Ok(Self { is_enabled: is_enabled(db)?, is_running: false, is_urgent: false })
    }

    /// Gives back next what can be given back, however little that is.
    pub(super) fn hurry(&mut self) {
        self.is_urgent = true;
    }

    /// Moves a few pages, if there are too many free ones; says whether it did.
    pub(super) fn step(&mut self, db: &Connection) -> Result<bool, StoreError> {
        if !self.is_enabled {
            return Ok(false);
        }
        let pages = Pages::count(db)?;
        let tolerated = match (self.is_urgent, self.is_running) {
            (true, _) => 0,
            (false, true) => pages.all / 16,
            (false, false) => pages.all / 8,
        };
        self.is_running = pages.free > tolerated.max(SPARE);
        self.is_urgent &= self.is_running;
        if self.is_running {
            // Every row is one page that was moved.
            let mut statement = db.prepare_cached(&format!("PRAGMA incremental_vacuum({STEP})"))?;
            let mut moved = statement.query([])?;
            while moved.next()?.is_some() {}
        }
        Ok(self.is_running)
    }
}

/// How many pages a database has.
struct Pages {
    all: i64,
    free: i64,
}

impl Pages {
    fn count(db: &Connection) -> Result<Self, StoreError> {
        Ok(Self { all: pragma(db, "page_count")?, free: pragma(db, "freelist_count")? })
    }

    fn used(&self) -> i64 {
        self.all - self.free
    }
}

fn is_enabled(db: &Connection) -> Result<bool, StoreError> {
    Ok(pragma(db, "auto_vacuum")? == INCREMENTAL)
}

fn pragma(db: &Connection, name: &str) -> Result<i64, StoreError> {
    let mut statement = db.prepare_cached(&format!("PRAGMA {name}"))?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
