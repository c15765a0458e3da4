//! `serve --check`: what a start would refuse is told, and nothing else happens.

use std::fs;
use std::net::TcpListener;

use antiphon_testkit::postgres::Server;

use crate::world::{Ended, World};

const ABSENT: &str = "settings: ok\nstore: ok, does not exist yet; the next start creates it\n";
const PRESENT: &str = "settings: ok\nstore: ok\nsecret: ok\n";

fn checked(args: &[&str]) -> Ended {
    World::serve(&[&["--check"], args].concat()).ends()
}

fn succeeded(stdout: &str) -> Ended {
    Ended { code: Some(0), stdout: stdout.to_owned(), stderr: String::new() }
}

fn failed(args: &[&str], sentence: &str) {
    let ended = checked(args);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
}

#[test]
fn check_binds_nothing_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("antiphon.db").display());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    assert_eq!(checked(&["--listen", &address, "--store", &store]), succeeded(ABSENT));

    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn check_rejects_the_settings_that_a_start_rejects() {
    let ended = checked(&["--faults", "ignore"]);
    let stderr = "error: --faults: 'ignore' is neither 'repair' nor 'reject'\n";
    assert_eq!(ended, Ended { code: Some(2), stdout: String::new(), stderr: stderr.to_owned() });

    let text = "[[upstreams]]\nmodels = ['*']\nurl = 'http://127.0.0.1:9/v1'\nkey-env = 'ABSENT'\n";
    let ended = World::serve(&["--check"]).file("antiphon.toml", text).ends();
    let stderr = "error: antiphon.toml:4: key-env: the variable ABSENT is not set, or is empty\n";
    assert_eq!(ended, Ended { code: Some(2), stdout: String::new(), stderr: stderr.to_owned() });
}

#[test]
fn check_reports_unknown_variables() {
    let ended = World::serve(&["--check"]).variable("ANTIPHON_STOER", "x").ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ABSENT));
    assert!(ended.stderr.contains("did you mean ANTIPHON_STORE?"), "{}", ended.stderr);
}

#[test]
fn check_runs_next_to_a_gateway_and_tests_the_secret() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("antiphon.db").display());
    let with = |secret: &'static str| ["--store", store.as_str(), "--secret", secret];
    let args = [&["--listen", "127.0.0.1:0"], &with("the-secret-of-2026")[..]].concat();
    let serving = World::serve(&args).ready();

    assert_eq!(checked(&with("the-secret-of-2026")), succeeded(PRESENT));
    failed(&with("another-secret-entirely"), "a secret that is not among these");
    failed(&with("another-secret-entirely")[..2], "the store was last opened with --secret");

    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
    serving.signal("TERM");
    serving.ended();
    assert_eq!(checked(&with("the-secret-of-2026")), succeeded(PRESENT));
}

#[test]
fn check_names_an_unusable_store() {
    failed(&["--store", "sqlite:no/such/directory/antiphon.db"], "the store cannot be opened: ");
    failed(&["--store", "postgres://u:sesame@127.0.0.1:1/a"], "PostgreSQL cannot be reached");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE notes (text)").unwrap();
    let store = format!("sqlite:{}", path.display());
    failed(&["--store", &store], "the file holds another application's database");
}

#[test]
fn check_of_an_earlier_release_migrates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("antiphon.db");
    let store = format!("sqlite:{}", path.display());
    let serving = World::serve(&["--listen", "127.0.0.1:0", "--store", &store]).ready();
    serving.signal("TERM");
    serving.ended();
    let version = |db: &rusqlite::Connection| -> i32 {
        db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);

    let ended = checked(&["--store", &store]);

    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("store: ok, from an earlier release"), "{}", ended.stdout);
    let db = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(version(&db), 1);
    db.pragma_update(None, "user_version", 1000).unwrap();
    drop(db);
    failed(&["--store", &store], "newer version of Antiphon");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_of_a_database_creates_nothing() {
    let database = Server::shared().await.create_database().await;
    tokio::task::spawn_blocking(move || {
        let args = ["--store", database.as_str()];
        assert_eq!(checked(&args), succeeded(ABSENT));
        assert_eq!(checked(&args), succeeded(ABSENT), "the first check created something");

        let serving = World::serve(&[&["--listen", "127.0.0.1:0"], &args[..]].concat()).ready();
        assert_eq!(checked(&args), succeeded(PRESENT));
        drop(serving);
    })
    .await
    .unwrap();
}
