//! `antiphon erase`.

use std::fs;

use serde_json::{Value, json};

use super::{BUSY, Kept, ask, is_busy, lines, stop};

fn hold(kept: &Kept, text: &str) -> bool {
    let mut files = fs::read_dir(kept.folder.path()).unwrap();
    files.any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|at| at == text.as_bytes())
    })
}

#[test]
fn erase_without_yes_only_reports() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");

    let ended = kept.antiphon(&["erase", "--tenant", "acme"]);

    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let sentence =
        format!("error: this would erase {BUSY} of the tenant 'acme'; give --yes to erase them\n");
    assert_eq!(ended.stderr, sentence);
    assert_eq!(lines(&kept.antiphon(&["tenants"]).stdout)[0]["items"], json!(6));
}

#[test]
fn open_file_is_not_erased() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");

    let ended = kept.antiphon(&["erase", "--tenant", "acme", "--yes"]);

    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let sentence = "another process has it open; if a gateway has the file open, stop it, then \
                    erase the tenant\n";
    assert!(ended.stderr.ends_with(sentence), "{}", ended.stderr);
    let path = format!("/v1/conversations/{}", had.conversation);
    ask(&serving, "key-of-acme", "GET", &path, &Value::Null);
}

#[test]
fn erase_deletes_only_the_tenants_data() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "vermilion");
    let others = is_busy(&serving, "key-of-globex", "cerulean");
    stop(serving);
    assert!(hold(&kept, "vermilion"));

    let ended = kept.antiphon(&["erase", "--tenant", "acme", "--yes"]);

    let received = format!("erased {BUSY} of the tenant 'acme'\n");
    assert_eq!((ended.code, ended.stdout, ended.stderr), (Some(0), received, String::new()));
    assert!(!hold(&kept, "vermilion"), "not a byte is left in the file");
    assert!(!hold(&kept, "acme"));
    let listed = lines(&kept.antiphon(&["tenants"]).stdout);
    assert_eq!(listed.iter().map(|line| &line["tenant"]).collect::<Vec<_>>(), ["globex"]);
    let serving = kept.serve();
    let gone = format!("/v1/conversations/{}", had.conversation);
    let answer = serving.ask_with("GET", &gone, "authorization: Bearer key-of-acme", "");
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    for response in &others.responses {
        ask(&serving, "key-of-globex", "GET", &format!("/v1/responses/{response}"), &Value::Null);
    }
    is_busy(&serving, "key-of-acme", "red");
}
