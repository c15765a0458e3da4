//! Commands whose output nobody reads to its end, such as `antiphon inspect | head -1`.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::tenants::{Kept, is_busy};
use crate::world::{ANTIPHON, Ended, World};

/// The exit code and the errors of a command whose output is closed from the start.
fn unread(args: &[&str], input: &str) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("input");
    std::fs::write(&file, input).unwrap();
    let mut command = Command::new(ANTIPHON);
    command.args(args).env_clear().current_dir(folder.path());
    command.stdin(std::fs::File::open(file).unwrap()).stdout(writer).stderr(Stdio::piped());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn commands_end_quietly() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let store = kept.url();
    let from = |command| vec![command, "--store", &store];
    for (args, code) in [
        (from("inspect"), 0),
        ([from("inspect"), vec!["--json", &had.conversation]].concat(), 0),
        (from("tenants"), 0),
        ([from("export"), vec!["--tenant", "acme"]].concat(), 0),
        (vec!["explain"], 0),
        (vec!["man"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["hash-key"], 0),
        (vec!["doctor", "--listen", "127.0.0.1:0"], 0),
        (vec!["serve", "--help"], 0),
    ] {
        let expected = (Some(code), String::new());
        assert_eq!(unread(&args, "a-key-of-many-characters"), expected, "{args:?}");
    }
}

/// The exit code of a history with faults does not depend on its reader.
#[test]
fn checks_and_repairs_end_quietly() {
    let call = json!([{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}]);
    let history = call.to_string();
    assert_eq!(unread(&["check"], &history), (Some(1), String::new()));
    assert_eq!(unread(&["repair"], &history), (Some(0), String::new()));
    let chunk = r#"data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;
    let args = ["convert", "--from", "chat", "--to", "responses"];
    assert_eq!(unread(&args, &format!("{chunk}\n\ndata: [DONE]\n\n")), (Some(0), String::new()));
}

/// An erasure ends before its summary is printed.
#[test]
fn erasure_is_complete_without_a_reader() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");
    serving.signal("TERM");
    serving.ended();
    let store = kept.url();
    let args = ["erase", "--store", &store, "--tenant", "acme", "--yes"];
    assert_eq!(unread(&args, ""), (Some(0), String::new()));
    let Ended { stdout, .. } = World::antiphon(&["tenants", "--store", &store]).ends();
    assert!(!stdout.contains("acme"), "{stdout}");
}
