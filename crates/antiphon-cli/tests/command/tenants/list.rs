//! `antiphon tenants`.

use serde_json::json;

use super::{Kept, is_busy, lines};
use crate::world::{Ended, World};

#[test]
fn tenants_are_listed_while_a_gateway_runs() {
    let kept = Kept::new();
    let serving = kept.serve();
    assert_eq!(kept.antiphon(&["tenants"]).stdout, "");
    is_busy(&serving, "key-of-globex", "blue");
    is_busy(&serving, "key-of-acme", "red");

    let ended = kept.antiphon(&["tenants"]);

    let held = |tenant: &str| {
        json!({
            "tenant": tenant, "conversations": 1, "responses": 3, "open_turns": 0, "ledgers": 0,
            "items": 6, "deleted_items": 1,
        })
    };
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let mut listed = lines(&ended.stdout);
    for line in &mut listed {
        let bytes = line.as_object_mut().unwrap().remove("item_bytes");
        assert!(bytes.unwrap().as_u64().unwrap() > 6 * 20, "items are longer");
    }
    assert_eq!(listed, [held("acme"), held("globex")]);
    assert_eq!(serving.status_of("/healthz"), "HTTP/1.1 200 OK");
}

#[test]
fn store_must_be_named() {
    for args in
        [&["tenants"][..], &["export", "--tenant", "acme"], &["erase", "--tenant", "acme", "--yes"]]
    {
        let stderr = "error: give --store URL or ANTIPHON_STORE, such as sqlite:antiphon.db, the \
                      default of `antiphon serve`: this command has no default\n";
        let (stdout, stderr) = (String::new(), stderr.to_owned());
        assert_eq!(World::antiphon(args).ends(), Ended { code: Some(2), stdout, stderr });
    }
}

#[test]
fn tenant_must_be_named() {
    let store = ["--store", "sqlite:antiphon.db"];
    for command in [&["export"][..], &["erase", "--yes"], &["import", "items.json"]] {
        let ended = World::antiphon(&[command, &store].concat()).ends();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        let missing = "not provided:\n  <--tenant <NAME>|--token-env <VARIABLE>>\n";
        assert!(ended.stderr.contains(missing), "{}", ended.stderr);
    }
}

#[test]
fn missing_store_is_not_created() {
    let kept = Kept::new();
    for args in [&["tenants"][..], &["erase", "--tenant", "acme", "--yes"]] {
        let ended = kept.antiphon(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        let sentence = "error: the store cannot be opened: ";
        assert!(ended.stderr.starts_with(sentence), "{}", ended.stderr);
        assert!(!ended.stderr.contains("failed"), "{}", ended.stderr);
        assert!(!kept.path().exists());
    }
    let ended = super::antiphon("sqlite::memory:", &["tenants"]);
    assert!(ended.stderr.contains("is private to its process"), "{}", ended.stderr);
}

#[test]
fn variable_names_the_store() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");

    let ended = World::antiphon(&["tenants"]).variable("ANTIPHON_STORE", &kept.url()).ends();

    assert_eq!(lines(&ended.stdout)[0]["tenant"], "acme");
}
