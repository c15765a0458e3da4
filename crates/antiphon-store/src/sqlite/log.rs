//! Keeps the write-ahead log short and free of erased data.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use super::connection;
use crate::error::StoreError;

/// The time to wait for readers that still need the log.
const READER_WAIT: Duration = Duration::from_millis(100);

/// The write-ahead log of a file. SQLite itself moves it into the database in steps, but restarts
/// it only when no reader uses it. With constant reads it would grow without limit.
#[derive(Debug)]
pub(super) struct Log {
    /// `None` for a database in memory.
    path: Option<PathBuf>,
    /// The number of bytes that may be written before the log must be emptied.
    room: u64,
    /// The length at which the log is emptied, even if calls wait.
    bound: u64,
    /// Whether it may still contain erased data.
    has_erased_data: bool,
    /// Whether a long read, such as an export, blocked the last attempt to empty the log. Then
    /// later attempts do not wait for readers, until one succeeds.
    is_held: bool,
}

impl Log {
    /// The log of `db`. It is emptied whenever `room` more bytes were written.
    pub(super) fn new(db: &Connection, room: u64) -> Self {
        let path = db.path().filter(|path| !path.is_empty());
        Self {
            path: path.map(|path| PathBuf::from(format!("{path}-wal"))),
            room,
            bound: room,
            has_erased_data: false,
            is_held: false,
        }
    }

    /// Records that data was erased.
    pub(super) fn note_erasure(&mut self) {
        self.has_erased_data = true;
    }

    /// Empties the log if needed: when idle to remove erased data, otherwise when it is long.
    pub(super) fn tend(&mut self, db: &Connection, is_idle: bool) {
        if (self.has_erased_data && is_idle) || self.length() > self.bound {
            self.empty(db);
        }
    }

    /// Whether a long read blocked the last attempt to empty the log.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Empties the log, unless a reader uses it for too long.
    pub(super) fn empty(&mut self, db: &Connection) {
        let wait = if self.is_held { Duration::ZERO } else { READER_WAIT };
        match connection::empty_log(db, wait) {
            Ok(emptied) => {
                self.has_erased_data &= !emptied;
                self.is_held = !emptied;
            }
            // On a full disk, every failing call reaches this line, and each call is logged by
            // itself.
            Err(error @ StoreError::NoSpace(_)) => {
                tracing::debug!(%error, "could not empty the write-ahead log");
            }
            Err(error) => tracing::warn!(%error, "could not empty the write-ahead log"),
        }
        self.bound = self.length().saturating_add(self.room);
    }

    fn length(&self) -> u64 {
        let metadata = self.path.as_ref().map(fs::metadata);
        metadata.map_or(0, |it| it.map_or(0, |it| it.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: u64 = 50_000;

    fn write(db: &Connection) {
        let sql = "INSERT INTO notes VALUES (hex(zeroblob(30000)))";
        db.execute(sql, []).unwrap();
    }

    #[test]
    fn long_log_is_emptied_after_its_readers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let db = connection::open_writing(&path).unwrap();
        db.execute_batch("CREATE TABLE notes (text)").unwrap();
        let mut log = Log::new(&db, ROOM);
        log.tend(&db, true);
        assert!(log.length() > 0, "a short log is left alone");

        let reader = connection::open_reading(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM notes").unwrap();
        write(&db);
        log.tend(&db, false);
        let held = log.length();
        assert!(held > ROOM, "what is still read is kept");

        reader.execute_batch("COMMIT").unwrap();
        log.tend(&db, false);
        assert_eq!(log.length(), held, "and it is let grow before the next try");
        write(&db);
        log.tend(&db, false);
        assert_eq!(log.length(), 0);
    }

    #[test]
    fn erased_data_leaves_the_log_when_idle() {
        let folder = tempfile::tempdir().unwrap();
        let db = connection::open_writing(&folder.path().join("notes.db")).unwrap();
        db.execute_batch("CREATE TABLE notes (text)").unwrap();
        let mut log = Log::new(&db, ROOM);
        log.note_erasure();

        log.tend(&db, false);
        assert!(log.length() > 0);
        log.tend(&db, true);
        assert_eq!(log.length(), 0);
    }

    #[test]
    fn long_reader_is_awaited_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let db = connection::open_writing(&path).unwrap();
        db.execute_batch("CREATE TABLE notes (text)").unwrap();
        let reader = connection::open_reading(&path).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM notes").unwrap();
        write(&db);
        let mut log = Log::new(&db, ROOM);
        log.note_erasure();

        log.tend(&db, true);
        assert!(log.is_held && log.has_erased_data);
        reader.execute_batch("COMMIT").unwrap();
        log.tend(&db, true);
        assert!(!log.is_held && !log.has_erased_data);
        assert_eq!(log.length(), 0);
    }

    #[test]
    fn memory_database_has_no_log() {
        let db = connection::open_in_memory().unwrap();
        let mut log = Log::new(&db, 0);
        log.note_erasure();

        log.tend(&db, true);

        assert_eq!(log.length(), 0);
        assert!(!log.has_erased_data);
    }
}
