//! Tenants that are named by a token which their upstream judges.

use serde_json::json;

use super::{Kept, ask, lines};
use crate::world::{Ended, World};

const SECRET: &str = "the-secret-of-2026";

/// Two callers have a conversation each, in the store of a gateway that forwards their tokens.
fn kept() -> Kept {
    let kept = Kept::new();
    let upstream = ["--upstream", "http://127.0.0.1:9/v1", "--secret", SECRET];
    let url = kept.url();
    let args = [&["--listen", "127.0.0.1:0", "--store", &url], &upstream[..]].concat();
    let serving = World::serve(&args).ready();
    for token in ["sk-alice", "sk-bob"] {
        let body = json!({"metadata": {"of": token}});
        ask(&serving, token, "POST", "/v1/conversations", &body);
    }
    kept
}

fn export(kept: &Kept, variables: &[(&str, &str)]) -> Ended {
    let args = ["export", "--store", &kept.url(), "--token-env", "TOKEN"];
    let world = variables
        .iter()
        .fold(World::antiphon(&args), |world, (name, text)| world.variable(name, text));
    world.ends()
}

#[test]
fn token_selects_its_tenant() {
    let kept = kept();

    let ended = export(&kept, &[("TOKEN", "sk-alice"), ("ANTIPHON_SECRET", SECRET)]);

    let exported = lines(&ended.stdout);
    assert_eq!(exported[2]["metadata"]["of"], "sk-alice");
    assert_eq!(exported.len(), 4, "{}", ended.stdout);
    let name = exported[0]["tenant"].as_str().unwrap();
    assert!(name.starts_with("token-") && !name.contains("alice"), "{name}");
    let named = kept.antiphon(&["export", "--tenant", name]);
    assert_eq!(named.stdout, ended.stdout, "the name is the one that logs give it");
}

#[test]
fn malformed_token_is_not_repeated() {
    let kept = kept();
    let cases = [
        (&[][..], Some(2), "--token-env: the variable TOKEN is not set, or is empty"),
        (&[("TOKEN", "")], Some(2), "--token-env: the variable TOKEN is not set, or is empty"),
        (&[("TOKEN", "sk-alice")], Some(1), "the store was last opened with --secret"),
        (
            &[("TOKEN", "sk-alice"), ("ANTIPHON_SECRET", "another-secret-of-ours")],
            Some(1),
            "the store was last opened with a secret that is not among these; add it",
        ),
        (
            &[("TOKEN", "sk-carol"), ("ANTIPHON_SECRET", SECRET)],
            Some(1),
            "the store has no data of the tenant 'token-",
        ),
    ];
    for (variables, code, sentence) in cases {
        let ended = export(&kept, variables);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""));
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
        for secret in ["alice", "carol", "of-ours"] {
            assert!(!ended.stderr.contains(secret), "{}", ended.stderr);
        }
    }
}
