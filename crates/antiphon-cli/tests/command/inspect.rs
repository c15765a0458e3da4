//! `antiphon inspect`.

use serde_json::{Value, json};

use crate::tenants::{Kept, ask, is_busy};
use crate::world::{Ended, Serving, World};

fn printed(ended: &Ended) -> &str {
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    &ended.stdout
}

#[test]
fn conversations_of_a_tenant_are_listed() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    is_busy(&serving, "key-of-globex", "blue");

    let ended = kept.antiphon(&["inspect", "--tenant", "acme"]);
    let text = printed(&ended);
    assert!(text.contains(&had.conversation) && text.contains(&had.responses[1]), "{text}");
    assert!(text.contains("\"My color is red\"") && text.contains("topic=red"), "{text}");
    assert!(text.contains("healthy") && !text.contains("blue"), "{text}");
    assert!(!text.contains('\u{1b}'), "no terminal, no colors: {text}");

    let ended = kept.antiphon(&["inspect", "--tenant", "acme", "--json", "--search", "COLOR is"]);
    let page: Value = serde_json::from_str(printed(&ended)).unwrap();
    assert_eq!(page["data"].as_array().unwrap().len(), 2);
    assert_eq!(page["data"][0]["state"], json!({"state": "healthy"}));
}

#[test]
fn turns_are_shown_with_their_lanes() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let [_, first, second] = &had.responses;

    let text = kept.antiphon(&["inspect", first]);
    let text = printed(&text);
    for words in ["received", "stored before", "sent to the model", "returned", "new", second] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let ended = kept.antiphon(&["inspect", first, "--json", "--limit", "1"]);
    let view: Value = serde_json::from_str(printed(&ended)).unwrap();
    assert_eq!(view["turns"].as_array().unwrap().len(), 1);
    assert_eq!((&view["turns"][0]["id"], &view["summary"]["turns"]), (&json!(second), &json!(2)));
}

#[test]
fn control_characters_of_items_are_escaped() {
    let kept = Kept::new();
    let serving = kept.serve();
    let hostile = "a\u{1b}[2Jb\u{0}\u{202e}c\nd";
    let body = json!({"model": "sim", "input": hostile});
    ask(&serving, "key-of-acme", "POST", "/v1/responses", &body);

    for args in [&["inspect"][..], &["inspect", "--json"]] {
        let ended = kept.antiphon(args);
        let text = printed(&ended);
        assert!(!text.contains(['\u{1b}', '\u{0}']), "{text}");
    }
    let text = kept.antiphon(&["inspect"]).stdout;
    assert!(text.contains(r"a\u{1b}[2Jb\u{0}\u{202e}c\nd"), "{text}");
}

#[test]
fn tenant_is_required_if_there_are_several() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");
    is_busy(&serving, "key-of-globex", "blue");
    let ended = kept.antiphon(&["inspect"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("give --tenant NAME"), "{}", ended.stderr);
}

#[test]
fn unknown_conversation_is_reported() {
    let kept = Kept::new();
    let serving = kept.serve();
    is_busy(&serving, "key-of-acme", "red");
    let had = is_busy(&serving, "key-of-globex", "blue");
    for id in ["conv_unknown", &had.conversation] {
        let ended = kept.antiphon(&["inspect", id, "--tenant", "acme"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        let sentence = format!("error: the tenant has no conversation or response '{id}'\n");
        assert_eq!(ended.stderr, sentence);
    }
}

#[test]
fn source_is_required() {
    let ended = World::antiphon(&["inspect"]).ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let sentence = "error: give --url URL of a running gateway, such as http://127.0.0.1:8484, or \
                    --store URL (or ANTIPHON_STORE), such as sqlite:antiphon.db, the default of \
                    `antiphon serve` in its folder\n";
    assert_eq!(ended.stderr, sentence);
}

fn at(serving: &Serving, args: &[&str]) -> World {
    let url = format!("http://{}", serving.address());
    World::antiphon(&[&["inspect", "--url", &url], args].concat())
}

#[test]
fn running_gateway_shows_the_tenant_of_the_key() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    is_busy(&serving, "key-of-globex", "blue");

    let running = at(&serving, &["--key", "key-of-acme", "--json"]).ends();
    let stored = kept.antiphon(&["inspect", "--tenant", "acme", "--json"]);
    assert_eq!(printed(&running), printed(&stored));
    let view = at(&serving, &["--key", "key-of-acme", &had.conversation]).ends();
    assert_eq!(
        printed(&view),
        printed(&kept.antiphon(&["inspect", "--tenant", "acme", &had.conversation]))
    );

    let foreign = at(&serving, &["--key", "key-of-globex", &had.conversation]).ends();
    assert_eq!((foreign.code, foreign.stdout.as_str()), (Some(1), ""));
    assert!(foreign.stderr.contains("has no conversation or response"), "{}", foreign.stderr);
    let unknown = at(&serving, &["--key", "key-of-nobody"]).ends();
    assert_eq!(unknown.code, Some(1));
    assert!(!unknown.stderr.contains("key-of-nobody"), "{}", unknown.stderr);
}

#[test]
fn followed_gateway_prints_each_change() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let turns = |line: &str| {
        let view: Value = serde_json::from_str(line).unwrap();
        view["summary"]["turns"].as_u64().unwrap()
    };
    let follow = ["--follow", "--json", "--key", "key-of-acme", &had.conversation];
    let mut following = at(&serving, &follow).ready();
    assert_eq!(turns(&following.readiness), 1);

    let body = json!({"model": "sim", "input": "More", "conversation": had.conversation});
    ask(&serving, "key-of-acme", "POST", "/v1/responses", &body);

    // The line before it may show the open turn.
    let mut lines = (0..2).map(|_| turns(&following.next_output()));
    assert!(lines.any(|turns| turns == 2));
    // It ends with the gateway, and fails if it was reading the conversation at that moment.
    serving.signal("TERM");
    following.ended();
}

#[test]
fn followed_store_prints_each_change() {
    let kept = Kept::new();
    let serving = kept.serve();
    let had = is_busy(&serving, "key-of-acme", "red");
    let store = kept.url();
    let args = ["inspect", "--store", &store, "--follow", "--json", &had.conversation];
    let mut following = World::antiphon(&args).ready();

    let body = json!({"model": "sim", "input": "More", "conversation": had.conversation});
    ask(&serving, "key-of-acme", "POST", "/v1/responses", &body);

    let mut lines = (0..2).map(|_| following.next_output());
    assert!(lines.any(|line| line.contains("\"turns\":2")));
    following.signal("KILL");
}

#[test]
fn gateway_without_an_answer_is_reported() {
    let kept = Kept::new();
    let ended = World::antiphon(&["inspect", "--url", "http://127.0.0.1:1"]).ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.starts_with("error: the gateway cannot be read: "), "{}", ended.stderr);
    let both = kept.antiphon(&["inspect", "--url", "http://127.0.0.1:1"]);
    assert_eq!(both.code, Some(2));
}
