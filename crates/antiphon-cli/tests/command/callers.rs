//! Who is let in, and what keeps their names apart.

use crate::world::{Ended, World};

const OF_ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn key_is_hashed_for_the_settings() {
    let ended = World::antiphon(&["hash-key"]).input("abc\n").ends();
    let stdout = format!("{OF_ABC}\n");
    assert_eq!(ended, Ended { code: Some(0), stdout, stderr: String::new() });

    for no_key in ["", "\n", "open sesame\n"] {
        let ended = World::antiphon(&["hash-key"]).input(no_key).ends();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(!ended.stderr.contains("sesame"), "{}", ended.stderr);
    }
}

#[test]
fn hashed_key_authenticates_its_caller() {
    let key = format!("{OF_ABC}=acme");
    let serving = World::serve(&["--listen", "127.0.0.1:0", "--api-key", &key]).ready();
    let status = |header| serving.status_of_with("/v1/models", header);
    assert_eq!(status("authorization: Bearer abc"), "HTTP/1.1 200 OK");
    assert_eq!(status("authorization: Bearer abd"), "HTTP/1.1 401 Unauthorized");
    assert_eq!(status(&format!("authorization: Bearer {OF_ABC}")), "HTTP/1.1 401 Unauthorized");
}

#[test]
fn proxy_header_names_the_caller() {
    let serving = World::serve(&["--listen", "0.0.0.0:0", "--tenant-header", "x-tenant"]).ready();
    let status = |header| serving.status_of_with("/v1/models", header);
    assert_eq!(status("x-tenant: acme"), "HTTP/1.1 200 OK");
    assert_eq!(status("authorization: Bearer any"), "HTTP/1.1 401 Unauthorized");
    assert_eq!(status("x-tenant: a b"), "HTTP/1.1 400 Bad Request");
}

#[test]
fn store_opens_with_its_secret() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("antiphon.db").display());
    let with = |secrets: &[&str]| {
        let args = ["--listen", "127.0.0.1:0", "--store", &store];
        World::serve(&[&args[..], secrets].concat())
    };
    let (old, new) = ("the-secret-of-2025", "the-secret-of-2026");
    for rotation in [&["--secret", old][..], &["--secret", new, old], &["--secret", new]] {
        let serving = with(rotation).ready();
        serving.signal("TERM");
        serving.ended();
    }

    for (secrets, sentence) in [
        (&["--secret", old][..], "the store was last opened with a secret that is not among these"),
        (&[], "the store was last opened with --secret; give the same secret again"),
    ] {
        let ended = with(secrets).ends();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        assert!(ended.stderr.contains(sentence), "{}", ended.stderr);
        assert!(!ended.stderr.contains("of-202"), "{}", ended.stderr);
    }
}
