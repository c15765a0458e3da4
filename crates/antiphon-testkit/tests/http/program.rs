//! The program for clients in other languages.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::peer;

/// Starts the program and returns it with the base URL in its first line.
fn start(arguments: &[&str]) -> (Child, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fake-upstream"))
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    let stdout = program.stdout.take().expect("it was piped");
    BufReader::new(stdout).read_line(&mut line).expect("it prints a line");
    let url = line.strip_prefix("fake upstream listening on ").expect("the line has this form");
    (program, url.trim_end().to_owned())
}

fn terminate(mut program: Child) {
    let kill = Command::new("kill").args(["-TERM", &program.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert!(program.wait().expect("it ends").success());
}

#[tokio::test]
async fn program_prints_its_address_and_stops_on_sigterm() {
    let (program, url) = start(&["--listen", "127.0.0.1:0"]);
    let models = peer::fetch(format!("{url}/models")).await.json().await;
    assert_eq!(models["data"][0]["id"], "fake-model");
    let root = url.strip_suffix("/v1").expect("the URL ends in /v1");
    assert_eq!(peer::fetch(format!("{root}/log")).await.json().await, json!([]));
    terminate(program);
}

#[test]
fn program_listens_on_loopback_by_default() {
    let (program, url) = start(&[]);
    assert!(url.starts_with("http://127.0.0.1:"));
    terminate(program);
}

#[test]
fn unknown_flags_are_refused() {
    let program = Command::new(env!("CARGO_BIN_EXE_fake-upstream")).arg("--port").output();
    let output = program.expect("the program runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("usage: fake-upstream"));
}
