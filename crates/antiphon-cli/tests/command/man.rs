//! `antiphon man`: the manual pages.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::World;

/// The page as text, if the system has a program for it. Any warning of that program fails the
/// test.
fn rendered(path: &Path) -> Option<String> {
    let programs: [(&str, &[&str]); 2] =
        [("groff", &["-man", "-Tascii", "-P-cbou", "-ww"]), ("mandoc", &["-Tascii", "-Wwarning"])];
    programs.into_iter().find_map(|(program, args)| {
        let output =
            Command::new(program).args(args).arg(path).stdin(Stdio::null()).output().ok()?;
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{program}");
        Some(String::from_utf8(output.stdout).unwrap())
    })
}

fn check_structure(page: &str, title: &str) {
    assert!(page.contains(&format!(".TH {title} 1 ")), "{page}");
    for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
        assert!(page.contains(&format!("\n.SH {section}\n")), "{section}: {page}");
    }
}

#[test]
fn page_of_the_command_lists_the_commands() {
    let ended = World::antiphon(&["man"]).ends();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    check_structure(&ended.stdout, "antiphon");
    assert!(ended.stdout.contains("antiphon\\-doctor(1)"), "{}", ended.stdout);
}

#[test]
fn directory_gets_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("man1");
    let ended = World::antiphon(&["man", "--dir", dir.to_str().unwrap()]).ends();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    let page = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    check_structure(&page("antiphon-serve.1"), "antiphon-serve");
    assert!(page("antiphon-serve.1").contains("\\-\\-upstream\\-key"));
    assert!(page("antiphon-doctor.1").contains("SECONDS"));
    assert!(!dir.join("antiphon-sim.1").exists(), "a hidden command has no page");
    for name in ["antiphon.1", "antiphon-serve.1", "antiphon-doctor.1"] {
        if let Some(text) = rendered(&dir.join(name)) {
            assert!(text.contains("\nNAME\n"), "{text}");
            assert!(text.contains("-help") && text.contains("antiphon"), "{text}");
        }
    }
}

#[test]
fn unusable_directory_is_a_failure() {
    let world = World::antiphon(&["man", "--dir", "file/man1"]).file("file", "");
    let ended = world.ends();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.starts_with("error: file/man1 cannot be written: "), "{}", ended.stderr);
}
