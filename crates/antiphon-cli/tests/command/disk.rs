//! A disk that is full, a file that is locked, taken or damaged: an error to whoever it hits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::{Serving, World};

pub(super) const ANY_PORT: [&str; 2] = ["--listen", "127.0.0.1:0"];
pub(super) const FILE: &str = "antiphon.db";

/// What a caller is told whose request could not be kept.
fn is_refused_by_the_store(answer: &(u16, Value)) -> bool {
    let error = json!({"error": {
        "message": "The store of conversations is unavailable. Nothing was changed. Please retry.",
        "type": "server_error",
        "param": "",
        "code": "store_unavailable",
    }});
    *answer == (503, error)
}

pub(super) fn conversation(serving: &Serving) -> String {
    let (status, body) = serving.answer("POST", "/v1/conversations", &json!({}));
    assert_eq!(status, 200, "{body}");
    format!("/v1/conversations/{}", body["id"].as_str().unwrap())
}

fn message(text: &str) -> Value {
    json!({"items": [{"type": "message", "role": "user", "content": text}]})
}

/// How many items a conversation holds.
pub(super) fn held(serving: &Serving, conversation: &str) -> usize {
    let (status, list) =
        serving.answer("GET", &format!("{conversation}/items?limit=100"), &Value::Null);
    assert_eq!((status, &list["has_more"]), (200, &Value::Bool(false)), "{list}");
    list["data"].as_array().unwrap().len()
}

/// Turns of a conversation, streamed and not.
fn turn(conversation: &str, streams: bool) -> Value {
    let id = conversation.rsplit('/').next();
    json!({"model": "sim", "input": "My color is purple", "conversation": id, "stream": streams})
}

/// A gateway whose files may grow to half a megabyte, and a conversation that has filled them; how
/// many items it holds.
fn full() -> (Serving, String, usize) {
    let serving = World::serve_within(512 << 10, &ANY_PORT).ready();
    let conversation = conversation(&serving);
    let items = format!("{conversation}/items");
    let text = message(&"word ".repeat(4_000));
    let mut kept = 0;
    let refusal = loop {
        let answer = serving.answer("POST", &items, &text);
        if answer.0 != 200 {
            break answer;
        }
        kept += 1;
        assert!(kept < 100, "it never gets full");
    };
    assert!(is_refused_by_the_store(&refusal), "{refusal:?}");
    (serving, conversation, kept)
}

/// Makes room.
fn grow(serving: &Serving) {
    let id = serving.id().to_string();
    let made = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &id]).status().unwrap();
    assert!(made.success());
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_rejects_only_writes_that_do_not_fit() {
    let (serving, conversation, kept) = full();

    let large = message(&"word ".repeat(4_000));
    let refused = serving.answer("POST", &format!("{conversation}/items"), &large);

    assert!(is_refused_by_the_store(&refused), "{refused:?}");
    assert_eq!(held(&serving, &conversation), kept, "reading goes on");
    let unkept = json!({"model": "sim", "input": "My color is purple", "store": false});
    let (status, answer) = serving.answer("POST", "/v1/responses", &unkept);
    assert_eq!((status, &answer["status"]), (200, &json!("completed")), "{answer}");
    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[cfg(target_os = "linux")]
#[test]
fn unstored_turn_does_not_complete() {
    let (serving, conversation, kept) = full();
    let mut large = turn(&conversation, false);
    // More than the files may hold, whatever is freed while the commit is repeated.
    large["input"] = "word ".repeat(200_000).into();

    // Each is held back for as long as its commit is repeated.
    let refused = serving.answer("POST", "/v1/responses", &large);
    large["stream"] = true.into();
    let streamed = serving.ask("POST", "/v1/responses", &large.to_string());

    assert!(is_refused_by_the_store(&refused), "{refused:?}");
    assert!(streamed.contains("The store of conversations is unavailable."), "{streamed}");
    assert!(!streamed.contains("response.completed"), "{streamed}");
    assert_eq!(held(&serving, &conversation), kept);
}

#[cfg(target_os = "linux")]
#[test]
fn writes_succeed_once_there_is_room() {
    let (serving, conversation, kept) = full();

    grow(&serving);

    let (status, body) =
        serving.answer("POST", &format!("{conversation}/items"), &message("It fits"));
    assert_eq!(status, 200, "{body}");
    let (status, body) = serving.answer("POST", "/v1/responses", &turn(&conversation, false));
    assert_eq!(status, 200, "{body}");
    let streamed = serving.ask("POST", "/v1/responses", &turn(&conversation, true).to_string());
    assert!(streamed.contains("response.completed"), "{streamed}");
    assert_eq!(held(&serving, &conversation), kept + 1 + 2 + 2);
}

/// Waits until `/readyz` gives this answer: it may remember the one before for a second.
fn wait_for_readiness(serving: &Serving, status: &str, body: &str) {
    let is_expected =
        |answer: &str| answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.ends_with(body);
    let mut last = String::new();
    for _ in 0..100_000 {
        last = serving.ask("GET", "/readyz", "");
        if is_expected(&last) {
            return;
        }
    }
    panic!("it is never {status}: {last}");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_not_ready_until_there_is_room() {
    let (serving, ..) = full();

    wait_for_readiness(&serving, "503", "the store cannot be written");
    serving.says("/readyz answers 503 until it works");
    grow(&serving);

    wait_for_readiness(&serving, "200", "ok");
    serving.says("the store works again");
}

#[cfg(target_os = "linux")]
#[test]
fn full_wal_is_emptied_and_turns_continue() {
    let serving = World::serve_within(512 << 10, &ANY_PORT).ready();
    let conversation = conversation(&serving);
    // What is written again and again takes room in the log only, ten times as much as there is.
    let metadata = json!({"metadata": {"note": "word ".repeat(100)}});
    for _ in 0..600 {
        let (status, body) = serving.answer("POST", &conversation, &metadata);
        assert_eq!(status, 200, "{body}");
    }

    let (status, body) = serving.answer("DELETE", &conversation, &Value::Null);

    assert_eq!((status, &body["deleted"]), (200, &json!(true)), "{body}");
}

/// Fills the disk with conversations of four large items, then with smaller ones until none fits.
fn fill(serving: &Serving) -> Vec<String> {
    let fits = |conversation: &str, words: usize| {
        let items = format!("{conversation}/items");
        serving.answer("POST", &items, &message(&"word ".repeat(words))).0 == 200
    };
    let mut conversations = vec![conversation(serving)];
    while (0..4).all(|_| fits(conversations.last().unwrap(), 100_000)) {
        let (200, body) = serving.answer("POST", "/v1/conversations", &json!({})) else { break };
        conversations.push(format!("/v1/conversations/{}", body["id"].as_str().unwrap()));
    }
    for words in [10_000, 1_000, 1] {
        while fits(conversations.last().unwrap(), words) {}
    }
    conversations
}

#[cfg(target_os = "linux")]
#[test]
fn deletes_work_on_a_full_disk_and_make_room() {
    let Some(world) = World::serve_on_a_small_disk(48, &ANY_PORT) else {
        println!("skipped: this system does not let tests mount a file system");
        return;
    };
    let serving = world.ready();
    let conversations = fill(&serving);

    for conversation in &conversations[..4] {
        let (status, body) = serving.answer("DELETE", conversation, &Value::Null);
        assert_eq!((status, &body["deleted"]), (200, &json!(true)), "{body}");
    }

    wait_for_readiness(&serving, "200", "ok");
    let last = &conversations[4];
    assert_eq!(held(&serving, last), 4, "nothing else is lost");
    let (status, body) = serving.answer("POST", "/v1/responses", &turn(last, false));
    assert_eq!(status, 200, "{body}");
}

#[test]
fn write_fails_while_another_program_locks_the_file() {
    let serving = World::serve(&ANY_PORT).ready();
    let conversation = conversation(&serving);
    let items = format!("{conversation}/items");
    let other = Connection::open(serving.directory().join(FILE)).unwrap();

    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = serving.answer("POST", &items, &message("It waits"));

    assert!(is_refused_by_the_store(&refused), "{refused:?}");
    assert_eq!(held(&serving, &conversation), 0, "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    let (status, body) = serving.answer("POST", &items, &message("It is let in"));
    assert_eq!((status, held(&serving, &conversation)), (200, 1), "{body}");
}

#[test]
fn second_gateway_on_one_file_is_rejected() {
    let serving = World::serve(&ANY_PORT).ready();
    let conversation = conversation(&serving);
    let file = serving.directory().join(FILE);

    let second = refused(&file);

    assert!(second.contains("another process has it open"), "{second}");
    assert_eq!(held(&serving, &conversation), 0, "the first one serves on");
}

#[test]
fn foreign_file_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let diary = "Dear diary, ".repeat(1_000);
    fs::write(&file, &diary).unwrap();

    let sentence = refused(&file);

    assert!(sentence.contains("file is not a database"), "{sentence}");
    assert_eq!(fs::read_to_string(&file).unwrap(), diary);
}

#[test]
fn damaged_file_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = left_behind(folder.path());
    let mut bytes = fs::read(&file).unwrap();
    // The page of the schema, behind the file's own header.
    bytes[100..2_000].fill(0xff);
    fs::write(&file, &bytes).unwrap();

    let sentence = refused(&file);

    assert!(sentence.contains("malformed"), "{sentence}");
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

/// The file that a gateway left in `folder` which was asked to stop.
pub(super) fn left_behind(folder: &Path) -> PathBuf {
    let file = folder.join(FILE);
    let store = format!("sqlite:{}", file.display());
    let serving = World::serve(&[&ANY_PORT[..], &["--store", &store]].concat()).ready();
    conversation(&serving);
    serving.signal("TERM");
    assert!(serving.ended().0.success());
    file
}

/// The sentence with which a gateway refuses to start on this file.
pub(super) fn refused(file: &Path) -> String {
    let store = format!("sqlite:{}", file.display());
    let ended = World::serve(&[&ANY_PORT[..], &["--store", &store]].concat()).ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let sentence = ended.stderr.lines().last().unwrap_or_default().to_owned();
    assert!(sentence.starts_with("error: the store cannot be opened: "), "{sentence}");
    sentence
}
