//! Counts the pages that a server appends to SQLite's write-ahead log.
//!
//! The count comes from the index of the log, the file `DATABASE-shm`
//! (<https://sqlite.org/walformat.html>, section 2.1). A trace would stop the server at each write;
//! then fewer turns share a commit.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The pages that a thread counts. The log restarts about every thousand pages, and pages that were
/// appended shortly before that may be missed: about one in a hundred.
pub(crate) struct WalPages {
    /// Dropping it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<u64>,
}

const POLL: Duration = Duration::from_millis(1);

/// The attempts to read the first header, which may be being written.
const ATTEMPTS: usize = 100;

impl WalPages {
    /// Starts to count the pages of the log of `database`; `None` if its index cannot be read.
    pub(super) fn count(database: &Path) -> Option<Self> {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        let mut counter = Counter::new(index.into())?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                counter.update();
            }
            counter.update();
            counter.pages
        });
        Some(Self { stop, thread })
    }

    /// Ends the count, and returns it; `None` if the thread has panicked.
    pub(crate) fn finish(self) -> Option<u64> {
        drop(self.stop);
        self.thread.join().ok()
    }
}

struct Counter {
    index: PathBuf,
    last: Header,
    pages: u64,
}

impl Counter {
    /// Begins at the present end of the log.
    fn new(index: PathBuf) -> Option<Self> {
        let last = (0..ATTEMPTS).find_map(|_| Header::read(&index))?;
        Some(Self { index, last, pages: 0 })
    }

    /// Adds the pages of the commits since the last update.
    fn update(&mut self) {
        let Some(now) = Header::read(&self.index) else { return };
        let counted = if now.salts == self.last.salts { self.last.pages } else { 0 };
        self.pages += u64::from(now.pages.saturating_sub(counted));
        self.last = now;
    }
}

/// The part of an index that the count needs.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// The number of pages that are committed in the log.
    pages: u32,
    /// They change when the log restarts.
    salts: [u8; 8],
}

impl Header {
    const LENGTH: usize = 48;

    /// Reads the header; `None` if there is none, or if it is being written: the file begins with
    /// two copies, which then differ.
    fn read(index: &Path) -> Option<Self> {
        let mut bytes = [0; 2 * Self::LENGTH];
        File::open(index).ok()?.read_exact(&mut bytes).ok()?;
        let (header, copy) = bytes.split_at(Self::LENGTH);
        if header != copy {
            return None;
        }
        Some(Self {
            pages: u32::from_ne_bytes(header[16..20].try_into().ok()?),
            salts: header[32..40].try_into().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    //! The test has the database open in the process that reads its index. Closing the index then
    //! releases SQLite's locks, so there must be no second connection.

    use rusqlite::Connection;

    use super::*;

    /// The number of pages in the log. Moves them into the database, so that the next write
    /// restarts the log.
    fn move_log(db: &Connection) -> u64 {
        db.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, u32>(1))
            .unwrap()
            .into()
    }

    #[test]
    fn committed_pages_are_counted_across_a_restart_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE notes (text)").unwrap();
        let index = folder.path().join("notes.db-shm");
        let mut counter = Counter::new(index).unwrap();
        let before = u64::from(counter.last.pages);
        let write = || db.execute("INSERT INTO notes VALUES (hex(zeroblob(30000)))", []).unwrap();

        write();
        counter.update();
        write();
        counter.update();
        counter.update();
        let first = move_log(&db);
        write();
        counter.update();

        let second = move_log(&db);
        assert_eq!(counter.pages, first - before + second);
        assert!(counter.pages > 45, "a write has more than 15 pages of 4 KiB");

        let pages = WalPages::count(&path).unwrap();
        write();
        assert_eq!(pages.finish(), Some(move_log(&db)));
    }

    #[test]
    fn header_that_is_being_written_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("notes.db-shm");
        let mut bytes = [7; 96];
        std::fs::write(&index, bytes).unwrap();
        assert!(Header::read(&index).is_some());

        bytes[16] = 8;
        std::fs::write(&index, bytes).unwrap();
        assert_eq!(Header::read(&index), None);
    }

    #[test]
    fn database_without_a_log_has_no_count() {
        let folder = tempfile::tempdir().unwrap();
        assert!(WalPages::count(&folder.path().join("none.db")).is_none());
    }
}
