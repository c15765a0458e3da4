//! Jobs that are committed together.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use futures_util::future::join_all;

use super::*;
use crate::sqlite::{connection, schema};

fn is_unavailable(outcome: &Result<(), StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

fn notes() -> Connection {
    with_notes(connection::open_in_memory().unwrap())
}

fn notes_at(path: &Path) -> Connection {
    with_notes(connection::open_writing(path).unwrap())
}

fn with_notes(mut db: Connection) -> Connection {
    schema::migrate(&mut db).unwrap();
    db.execute_batch(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
         CREATE TABLE replies (note REFERENCES notes DEFERRABLE INITIALLY DEFERRED)",
    )
    .unwrap();
    db
}

fn note(text: &'static str) -> impl FnMut(&Connection) -> Result<(), StoreError> + Send {
    move |db| {
        db.execute("INSERT INTO notes (text) VALUES (?1)", [text])?;
        Ok(())
    }
}

async fn noted(writer: &Writer) -> String {
    let read = |db: &Connection| {
        let all = "SELECT coalesce(group_concat(text, ' '), '') FROM notes";
        Ok(db.query_row(all, [], |row| row.get(0))?)
    };
    writer.call(Effect::Unsynced, read).await.unwrap()
}

/// Blocks the writer until released, so that jobs queued meanwhile share one commit.
fn held_up() -> (mpsc::Sender<()>, impl FnMut(&Connection) -> Result<(), StoreError> + Send) {
    let (go, busy, _) = held_up_with_start();
    (go, busy)
}

/// The same, with a message when the writer begins to wait.
fn held_up_with_start() -> (
    mpsc::Sender<()>,
    impl FnMut(&Connection) -> Result<(), StoreError> + Send,
    oneshot::Receiver<()>,
) {
    let ((go, told), (start, started)) = (mpsc::channel(), oneshot::channel());
    let mut first_run = Some((start, told));
    let busy = move |_: &Connection| {
        if let Some((start, told)) = first_run.take() {
            let _ = start.send(());
            told.recv().unwrap();
        }
        Ok(())
    };
    (go, busy, started)
}

/// Calls `first`, and queues the calls of `later` while it runs: they join its commit, or are in
/// the next one.
async fn call_with_later<T>(
    writer: &Writer,
    effect: Effect,
    mut first: impl FnMut(&Connection) -> Result<(), StoreError> + Send + 'static,
    later: impl Future<Output = T>,
) -> (Result<(), StoreError>, T) {
    let (go, mut busy, started) = held_up_with_start();
    let held = move |db: &Connection| {
        busy(db)?;
        first(db)
    };
    let queued = async {
        started.await.unwrap();
        tokio::join!(later, async { go.send(()).unwrap() }).0
    };
    tokio::join!(writer.call(effect, held), queued)
}

#[tokio::test]
async fn failed_job_is_undone_alone() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let (go, busy) = held_up();
    let failing = |db: &Connection| {
        note("lost")(db)?;
        Err::<(), _>(StoreError::ConversationNotFound)
    };

    let outcomes = tokio::join!(
        writer.call(Effect::Synced, busy),
        writer.call(Effect::Synced, note("one")),
        writer.call(Effect::Synced, failing),
        writer.call(Effect::Synced, note("two")),
        async { go.send(()).unwrap() },
    );

    assert_eq!((outcomes.1, outcomes.3), (Ok(()), Ok(())));
    assert_eq!(outcomes.2, Err(StoreError::ConversationNotFound));
    assert_eq!(noted(&writer).await, "one two");
}

#[tokio::test]
async fn failed_commit_fails_all_its_jobs() {
    let db = notes();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    let writer = Writer::start(db, None, Arc::default(), Observed::default()).unwrap();
    let (go, busy) = held_up();
    // The constraint is checked at the commit.
    let breaking = |db: &Connection| {
        db.execute("INSERT INTO replies VALUES (7)", [])?;
        Ok(())
    };

    let outcomes = tokio::join!(
        writer.call(Effect::Synced, busy),
        writer.call(Effect::Synced, note("one")),
        writer.call(Effect::Synced, breaking),
        writer.call(Effect::Synced, note("two")),
        async { go.send(()).unwrap() },
    );

    for outcome in [outcomes.1, outcomes.2, outcomes.3] {
        assert!(is_unavailable(&outcome));
    }
    assert_eq!(noted(&writer).await, "");
    assert_eq!(writer.call(Effect::Synced, note("later")).await, Ok(()));
    assert_eq!(noted(&writer).await, "later");
}

#[tokio::test]
async fn lost_transaction_fails_all_its_jobs() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let (go, busy) = held_up();
    let giving_up = |db: &Connection| {
        let sql = "INSERT OR ROLLBACK INTO notes (text) VALUES (NULL)";
        Ok(db.execute(sql, []).map(drop)?)
    };

    let outcomes = tokio::join!(
        writer.call(Effect::Synced, busy),
        writer.call(Effect::Synced, note("one")),
        writer.call(Effect::Synced, giving_up),
        writer.call(Effect::Synced, note("two")),
        async { go.send(()).unwrap() },
    );

    for outcome in [outcomes.1, outcomes.2, outcomes.3] {
        assert!(is_unavailable(&outcome));
    }
    assert_eq!(noted(&writer).await, "");
}

#[tokio::test]
async fn full_disk_rejects_oversized_jobs() {
    let db = notes();
    db.pragma_update_and_check(None, "max_page_count", 40, |_| Ok(())).unwrap();
    let writer = Writer::start(db, None, Arc::default(), Observed::default()).unwrap();
    let too_much = |db: &Connection| {
        let sql = "INSERT INTO notes (text) VALUES (hex(zeroblob(100000)))";
        Ok(db.execute(sql, []).map(drop)?)
    };

    let refused = writer.call(Effect::Synced, too_much).await;

    assert!(matches!(refused, Err(StoreError::NoSpace(_))), "{refused:?}");
    assert_eq!(writer.call(Effect::Synced, note("small")).await, Ok(()));
    assert_eq!(noted(&writer).await, "small");
}

#[tokio::test]
async fn job_that_fills_the_disk_after_joining_fails_alone() {
    let db = notes();
    db.pragma_update_and_check(None, "max_page_count", 40, |_| Ok(())).unwrap();
    let writer = Writer::start(db, None, Arc::default(), Observed::default()).unwrap();
    let first = note("one");
    let too_much = |db: &Connection| {
        let sql = "INSERT INTO notes (text) VALUES (hex(zeroblob(100000)))";
        Ok(db.execute(sql, []).map(drop)?)
    };

    let later = async {
        tokio::join!(
            writer.call(Effect::Synced, too_much),
            writer.call(Effect::Synced, note("two")),
        )
    };
    let (outcome, outcomes) = call_with_later(&writer, Effect::Synced, first, later).await;

    assert_eq!((outcome, outcomes.1), (Ok(()), Ok(())));
    assert!(matches!(outcomes.0, Err(StoreError::NoSpace(_))), "{:?}", outcomes.0);
    assert_eq!(noted(&writer).await, "one two");
}

#[tokio::test]
async fn locked_file_rejects_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let other = notes_at(&path);
    let db = connection::open_writing(&path).unwrap();
    db.busy_timeout(Duration::ZERO).unwrap();
    let writer = Writer::start(db, None, Arc::default(), Observed::default()).unwrap();

    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = writer.call(Effect::Synced, note("refused")).await;
    assert!(is_unavailable(&refused));

    other.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.call(Effect::Synced, note("taken")).await, Ok(()));
    assert_eq!(noted(&writer).await, "taken");
}

#[tokio::test]
async fn only_durable_jobs_are_synced() {
    const NORMAL: i64 = 1;
    const FULL: i64 = 2;
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let mode = |db: &Connection| {
        Ok(db.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0))?)
    };

    for (effect, expected) in [
        (Effect::Synced, FULL),
        (Effect::Unsynced, NORMAL),
        (Effect::Unsynced, NORMAL),
        (Effect::Erasing, FULL),
    ] {
        assert_eq!(writer.call(effect, mode).await, Ok(expected), "{effect:?}");
    }

    // A job joins a commit that has begun, unless the job needs a sync and the commit has none.
    // None joins a restore, so both wait and are committed together.
    for (first, unsynced) in
        [(Effect::Synced, FULL), (Effect::Unsynced, NORMAL), (Effect::Restoring, FULL)]
    {
        let later = async {
            tokio::join!(writer.call(Effect::Unsynced, mode), writer.call(Effect::Synced, mode))
        };
        let (_, modes) = call_with_later(&writer, first, |_| Ok(()), later).await;
        assert_eq!((modes.0, modes.1), (Ok(unsynced), Ok(FULL)), "{first:?}");
    }
}

#[tokio::test]
async fn number_of_joining_jobs_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let writer = Writer::start(notes_at(&path), None, Arc::default(), Observed::default()).unwrap();
    let before = commits(&path);
    let first = note("first");

    let later = async {
        let jobs = (0..=MAX_JOINING).map(|_| writer.call(Effect::Synced, note("later")));
        join_all(jobs).await
    };
    let (outcome, outcomes) = call_with_later(&writer, Effect::Synced, first, later).await;

    assert!(outcome.is_ok() && outcomes.iter().all(Result::is_ok));
    assert_eq!(commits(&path) - before, 2);
}

#[tokio::test]
async fn jobs_that_arrive_while_others_run_share_their_sync() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let writer = Writer::start(notes_at(&path), None, Arc::default(), Observed::default()).unwrap();
    let before = commits(&path);
    let first = note("one");

    let later = async {
        tokio::join!(
            writer.call(Effect::Synced, note("two")),
            writer.call(Effect::Unsynced, note("three")),
        )
    };
    let (outcome, outcomes) = call_with_later(&writer, Effect::Synced, first, later).await;

    assert_eq!((outcome, outcomes.0, outcomes.1), (Ok(()), Ok(()), Ok(())));
    assert_eq!(commits(&path) - before, 1);
    assert_eq!(noted(&writer).await, "one two three");
}

#[tokio::test]
async fn job_that_fails_after_joining_is_undone_alone() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let first = note("one");
    let failing = |db: &Connection| {
        note("lost")(db)?;
        Err::<(), _>(StoreError::ConversationNotFound)
    };

    let later = async {
        tokio::join!(writer.call(Effect::Synced, failing), writer.call(Effect::Synced, note("two")))
    };
    let (outcome, outcomes) = call_with_later(&writer, Effect::Synced, first, later).await;

    assert_eq!((outcome, outcomes.1), (Ok(()), Ok(())));
    assert_eq!(outcomes.0, Err(StoreError::ConversationNotFound));
    assert_eq!(noted(&writer).await, "one two");
}

#[tokio::test]
async fn restoring_job_joins_no_commit_and_runs_once() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let mut source = ["read"].into_iter();
    let restoring = move |db: &Connection| note(source.next().expect("it is read once"))(db);
    let failing = |_: &Connection| Err::<(), _>(StoreError::ConversationNotFound);

    let later = async {
        tokio::join!(
            writer.call(Effect::Restoring, restoring),
            writer.call(Effect::Synced, failing),
        )
    };
    let (_, outcomes) = call_with_later(&writer, Effect::Synced, |_| Ok(()), later).await;

    assert_eq!((outcomes.0, outcomes.1), (Ok(()), Err(StoreError::ConversationNotFound)));
    assert_eq!(noted(&writer).await, "read");
}

#[tokio::test]
async fn waiting_jobs_share_one_sync() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let writer = Writer::start(notes_at(&path), None, Arc::default(), Observed::default()).unwrap();
    let before = commits(&path);

    let together = async {
        tokio::join!(
            writer.call(Effect::Synced, note("one")),
            writer.call(Effect::Synced, note("two")),
            writer.call(Effect::Synced, note("three")),
        )
    };
    // An unsynced commit, which the others cannot join.
    let (_, outcomes) = call_with_later(&writer, Effect::Unsynced, |_| Ok(()), together).await;

    assert_eq!((outcomes.0, outcomes.1, outcomes.2), (Ok(()), Ok(()), Ok(())));
    assert_eq!(commits(&path) - before, 1, "with `synchronous` full, each commit is one sync");
    assert_eq!(writer.call(Effect::Synced, note("four")).await, Ok(()));
    assert_eq!(commits(&path) - before, 2);
}

/// Counts the commits in the log of the database at `path`. Source: section 4.1 of SQLite's file
/// format description. A header of 32 bytes is followed by frames, each a header of 24 bytes and a
/// page. The second word of a frame's header is zero, except in the last frame of a commit.
fn commits(path: &Path) -> usize {
    let log = std::fs::read(path.with_extension("db-wal")).unwrap();
    let word = |bytes: &[u8]| u32::from_be_bytes(*bytes.first_chunk().unwrap());
    let page = usize::try_from(word(&log[8..])).unwrap();
    log[32..].chunks_exact(24 + page).filter(|frame| word(&frame[4..]) != 0).count()
}

#[tokio::test]
async fn job_runs_without_its_caller() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let (go, busy) = held_up();
    tokio::join!(abandon(&writer, busy), async { go.send(()).unwrap() });

    assert_eq!(noted(&writer).await, "left");
}

/// Queues both jobs, and drops the calls before either is answered.
async fn abandon(
    writer: &Writer,
    busy: impl FnMut(&Connection) -> Result<(), StoreError> + Send + 'static,
) {
    tokio::select! {
        biased;
        _ = writer.call(Effect::Synced, busy) => unreachable!("it is held up"),
        _ = writer.call(Effect::Synced, note("left")) => unreachable!("it waits for the other"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn close_waits_for_queued_jobs() {
    let writer = Writer::start(notes(), None, Arc::default(), Observed::default()).unwrap();
    let (go, busy) = held_up();

    let outcomes = tokio::join!(
        // The other cannot join it.
        writer.call(Effect::Unsynced, busy),
        writer.call(Effect::Synced, note("queued")),
        writer.close(),
        writer.call(Effect::Synced, note("late")),
        async { go.send(()).unwrap() },
    );

    assert_eq!(outcomes.1, Ok(()));
    assert_eq!(outcomes.3, Err(closed()));
    writer.close().await;
}

#[tokio::test]
async fn erased_data_leaves_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let writer = Writer::start(notes_at(&path), None, Arc::default(), Observed::default()).unwrap();
    let subject = writer.call(Effect::Synced, note("a secret")).await;
    assert_eq!(subject, Ok(()));
    assert!(holds(folder.path(), b"a secret"));

    let erase = |db: &Connection| Ok(db.execute("DELETE FROM notes", []).map(drop)?);
    assert_eq!(writer.call(Effect::Erasing, erase).await, Ok(()));
    // The log is emptied after the answer, once no jobs wait.
    let mut tries = 0..10_000;
    while holds(folder.path(), b"a secret") {
        assert!(tries.next().is_some(), "it is still there");
        tokio::task::yield_now().await;
    }
}

fn holds(folder: &Path, text: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text)
    })
}
