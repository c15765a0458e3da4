//! `antiphon import`.

mod compactions;
mod pages;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_testkit::postgres::Server;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Had, Kept, antiphon, ask, id, is_busy, lines, stop};
use crate::world::{Ended, World};

/// A file of this test.
fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn import(store: &str, file: &Path, options: &[&str]) -> Ended {
    let file = file.to_str().unwrap();
    antiphon(store, &[&["import", "--tenant", "acme", "--json", file], options].concat())
}

/// The report of an import, which ends with this code.
fn report(ended: &Ended, code: i32) -> Value {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(code), ""), "{}", ended.stdout);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn export(store: &str) -> String {
    let ended = antiphon(store, &["export", "--tenant", "acme"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended.stdout
}

/// The contents of the items of the only conversation, in order.
fn contents(store: &str) -> Vec<Value> {
    let lines = lines(&export(store));
    let items = lines.iter().filter(|line| line["object"] == "conversation.item");
    items.map(|line| line["item"].clone()).collect()
}

/// A tenant that was busy, with a fork, a retracted item and items of a deleted response.
fn busy_tenant(kept: &Kept) -> Had {
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let post = |body: &Value| ask(&serving, "key-of-acme", "POST", "/v1/responses", body);
    let fork = json!({"model": "sim", "input": "Which color?", "instructions": "Be brief.",
                      "previous_response_id": had.responses[1]});
    post(&fork);
    let chain = post(&json!({"model": "sim", "input": "Remember blue."}));
    post(&json!({"model": "sim", "input": "And green.", "previous_response_id": id(&chain)}));
    let deleted = format!("/v1/responses/{}", id(&chain));
    ask(&serving, "key-of-acme", "DELETE", &deleted, &Value::Null);
    stop(serving);
    had
}

#[test]
fn exported_tenant_is_imported_as_it_was() {
    let (from, to) = (Kept::new(), Kept::new());
    let had = busy_tenant(&from);
    let exported = export(&from.url());
    let exported_file = file(&from.folder, "acme.ndjson", &exported);

    let imported = report(&import(&to.url(), &exported_file, &[]), 0);

    let counts = |created: u64| json!({"created": created, "existing": 0, "refused": 0});
    assert_eq!(imported["conversations"], counts(1));
    assert_eq!(imported["responses"], counts(5));
    assert_eq!(imported["refused"], json!([]));
    assert_eq!(export(&to.url()), exported);
    let serving = to.serve();
    for response in &had.responses {
        ask(&serving, "key-of-acme", "GET", &format!("/v1/responses/{response}"), &Value::Null);
    }
    let next = json!({"model": "sim", "input": "What is my color?",
                      "conversation": had.conversation});
    let answer = ask(&serving, "key-of-acme", "POST", "/v1/responses", &next);
    assert!(answer["output"].to_string().contains("red"), "{answer}");
}

#[test]
fn second_import_adds_nothing() {
    let (from, to) = (Kept::new(), Kept::new());
    busy_tenant(&from);
    let exported = export(&from.url());
    let exported_file = file(&from.folder, "acme.ndjson", &exported);
    report(&import(&to.url(), &exported_file, &[]), 0);

    let again = report(&import(&to.url(), &exported_file, &[]), 0);

    assert_eq!(again["items"], 0);
    assert_eq!(again["conversations"], json!({"created": 0, "existing": 1, "refused": 0}));
    assert_eq!(again["responses"], json!({"created": 0, "existing": 5, "refused": 0}));
    assert_eq!(export(&to.url()), exported);
}

/// An export with so many conversations of one item.
fn export_of(conversations: u64) -> String {
    let mut text = format!("{}\n", json!({"object": "export", "version": 2, "tenant": "acme"}));
    for number in 0..conversations {
        let id = format!("conv_{number:016x}{number:032x}");
        let item = format!("msg_{number}");
        let message = json!({"type": "message", "id": item, "role": "user", "content": "hi"});
        let lines = [
            json!({"object": "thread", "shard": format!("{number:016x}"),
                   "id": format!("{number:016x}"), "tip": 1, "named": true, "lineage": []}),
            json!({"object": "conversation", "id": id, "created_at": 1, "metadata": {}}),
            json!({"object": "conversation.item", "conversation": id, "id": item, "at": 0,
                   "item": message}),
        ];
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
    }
    text + &format!("{}\n", json!({"object": "export.end", "lines": 1 + 3 * conversations}))
}

fn conversations(store: &str) -> u64 {
    let listed = lines(&antiphon(store, &["tenants"]).stdout);
    listed.first().map_or(0, |line| line["conversations"].as_u64().unwrap())
}

#[test]
fn killed_import_is_completed() {
    const ALL: u64 = 2000;
    let kept = Kept::new();
    let exported_file = file(&kept.folder, "acme.ndjson", &export_of(ALL));
    // The first import creates the tables.
    let empty = file(&kept.folder, "empty.ndjson", &export_of(0));
    report(&import(&kept.url(), &empty, &[]), 0);
    let path = exported_file.to_str().unwrap();
    let args = ["import", "--tenant", "acme", "--store", &kept.url(), path];
    let mut running = World::antiphon(&args).spawn();
    while conversations(&kept.url()) == 0 {
        assert!(running.try_wait().unwrap().is_none(), "it ended before it was killed");
    }
    running.kill().unwrap();
    running.wait().unwrap();
    let before = conversations(&kept.url());

    let completed = report(&import(&kept.url(), &exported_file, &[]), 0);

    assert!((1..ALL).contains(&before), "{before}");
    let expected = json!({"created": ALL - before, "existing": before, "refused": 0});
    assert_eq!(completed["conversations"], expected);
    assert_eq!(lines(&export(&kept.url())), lines(&export_of(ALL)));
}

#[test]
fn quota_refuses_objects_and_a_larger_one_completes_them() {
    let kept = Kept::new();
    let exported_file = file(&kept.folder, "acme.ndjson", &export_of(5));

    let partial = import(&kept.url(), &exported_file, &["--max-tenant-items", "3"]);

    let partial = report(&partial, 1);
    assert_eq!(partial["conversations"], json!({"created": 3, "existing": 0, "refused": 2}));
    let refused = json!({
        "object": "conversation",
        "id": format!("conv_{:016x}{:032x}", 3, 3),
        "line": 11,
        "reason": "the quota is exceeded: max-tenant-items is 3, which leaves room for 0 items",
    });
    assert_eq!(partial["refused"][0], refused);
    let rest = report(&import(&kept.url(), &exported_file, &["--max-tenant-items", "5"]), 0);
    assert_eq!(rest["conversations"], json!({"created": 2, "existing": 3, "refused": 0}));
    assert_eq!(lines(&export(&kept.url())), lines(&export_of(5)));
}

fn message(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "role": "user", "content": text})
}

#[test]
fn array_and_lines_are_the_same_list() {
    let kept = Kept::new();
    let items = [message("msg_1", "one"), json!({"role": "user", "content": "no id"})];
    let array = file(&kept.folder, "a.json", &format!("[\n  {},\n  {}\n]\n", items[0], items[1]));
    let ndjson = file(&kept.folder, "a.ndjson", &format!("{}\n{}\n", items[0], items[1]));

    let first = report(&import(&kept.url(), &array, &[]), 0);
    let second = report(&import(&kept.url(), &ndjson, &[]), 0);

    assert_eq!(first["items"], 2);
    assert_eq!(first["conversation"], second["conversation"]);
    assert_eq!(second["conversations"], json!({"created": 0, "existing": 1, "refused": 0}));
    assert_eq!(contents(&kept.url()), items);
}

#[test]
fn used_conversation_id_is_refused() {
    let kept = Kept::new();
    let one = file(&kept.folder, "one.json", &message("msg_1", "one").to_string());
    let two = file(&kept.folder, "two.json", &message("msg_2", "two").to_string());
    let named = format!("conv_{}", "ab".repeat(24));
    let options = ["--conversation", named.as_str()];
    assert_eq!(report(&import(&kept.url(), &one, &options), 0)["conversation"], named);

    let other = report(&import(&kept.url(), &two, &options), 1);

    let reason = "the store has another conversation with this id";
    let refused = json!([{"object": "conversation", "id": named, "line": 1, "reason": reason}]);
    assert_eq!(other["refused"], refused);
    assert_eq!(report(&import(&kept.url(), &one, &options), 0)["items"], 0);
    assert_eq!(contents(&kept.url()), [message("msg_1", "one")]);
}

#[test]
fn invalid_file_is_named_with_line_and_reason_and_changes_nothing() {
    let kept = Kept::new();
    let first = message("msg_1", "one").to_string();
    let whole = export_of(2);
    let cut: String = whole.split_inclusive('\n').take(6).collect();
    let moved = whole.replacen(r#""at":0"#, r#""at":1"#, 1);
    let broken = whole.replacen(r#""named":true"#, r#""named":true,"#, 1);
    let column = broken.lines().nth(1).unwrap().find(",,").unwrap() + 2;
    let incomplete = "the export is incomplete: its last line is missing";
    let version = |number| json!({"object": "export", "version": number}).to_string();
    let cases = [
        (format!("{first}\n{{\"type\":"), "2: this is not JSON: the value has no end"),
        (format!("[{first}\n"), "2: this is not JSON: the array has no end"),
        (format!("{first}\n\n{first}"), "3: the list has the item 'msg_1' already, at FILE:1"),
        (
            format!("{first}\n{{\"id\":7}}"),
            "2: Invalid type for 'item[1].id': expected a string, but got an integer instead.",
        ),
        (
            format!("[{first}, {{\"type\":7}}]"),
            "1: Invalid type for 'item[1].type': expected a string, but got an integer instead.",
        ),
        (format!("{first}\n[1]"), "2: Invalid type for 'item[1]': expected an object, but got"),
        (format!("{first}\n  {{\"a\":1,}}"), "2:10: this is not JSON: key must be a string\n"),
        (format!("[\n {first},\n {{\n  \"a\" 1\n }}]"), "4:7: this is not JSON: expected `:`\n"),
        (
            format!("{first}\n{{\"type\":\"item_reference\",\"id\":\"msg_0\"}}"),
            "2: 'item[1]' is an 'item_reference', which has no content; give the item itself\n",
        ),
        (" \n".to_owned(), " it contains no items"),
        (cut, &format!("6: {incomplete}")),
        (moved, "4: the position of the item is not in its thread"),
        (
            version(1),
            "1: version 1 of an export has no positions; export the tenant again with \
                      this release",
        ),
        (broken.clone(), &format!("2:{column}: this is not JSON: key must be a string\n")),
        (version(9), "1: this release reads version 2 of an export, and this one has version 9"),
    ];
    for (text, sentence) in cases {
        let path = file(&kept.folder, "invalid", &text);
        let ended = import(&kept.url(), &path, &[]);
        let stderr = ended.stderr.replace(path.to_str().unwrap(), "FILE");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.starts_with(&format!("error: FILE:{sentence}")), "{stderr}");
        assert_eq!(antiphon(&kept.url(), &["tenants"]).stdout, "");
    }
}

/// A conversation of so many items: messages, and calls with their outputs.
fn long_list(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let item = match number % 4 {
            0 => message(&format!("msg_{number}"), "Add these numbers, please."),
            1 => json!({"type": "function_call", "id": format!("fc_{number}"), "name": "add",
                        "call_id": format!("call_{number}"), "arguments": "{\"a\":1,\"b\":2}"}),
            2 => json!({"type": "function_call_output", "call_id": format!("call_{}", number - 1),
                        "output": "3"}),
            _ => json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": "3", "annotations": []}]}),
        };
        writeln!(text, "{item}").unwrap();
    }
    text
}

/// Brings a list of items into one store, and its export into another.
fn round_trip(count: usize, first: &str, second: &str) {
    let folder = tempfile::tempdir().unwrap();
    let list = file(&folder, "items.ndjson", &long_list(count));
    assert_eq!(report(&import(first, &list, &[]), 0)["items"], count);
    let exported = export(first);
    let exported_file = file(&folder, "acme.ndjson", &exported);

    let imported = report(&import(second, &exported_file, &[]), 0);

    assert_eq!(imported["items"], count);
    let again = export(second);
    assert_eq!(again.lines().count(), count + 4);
    assert!(again == exported, "the exports differ");
}

#[test]
fn hundred_thousand_items_go_out_and_in() {
    let (first, second) = (Kept::new(), Kept::new());
    round_trip(100_000, &first.url(), &second.url());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_go_out_of_postgres_and_in() {
    let server = Server::shared().await;
    let (first, second) = (server.create_database().await, server.create_database().await);
    tokio::task::spawn_blocking(move || round_trip(20_000, &first, &second)).await.unwrap();
}
