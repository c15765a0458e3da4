//! `antiphon explain`: the pages of the faults, and their examples.

use std::collections::BTreeSet;

use crate::world::{Ended, World};

fn explain(words: &[&str]) -> Ended {
    World::antiphon(&[&["explain"], words].concat()).ends()
}

fn run(command: &str, input: &str) -> Ended {
    World::antiphon(&[command]).input(input).ends()
}

/// The names in the list of all faults.
fn names() -> Vec<String> {
    let listed = explain(&[]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let name = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    listed.stdout.lines().map(name).collect()
}

/// The code blocks of a page, with their languages.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        blocks.push(block.split_once('\n').unwrap());
    }
    blocks
}

#[test]
fn every_fault_of_the_packages_has_a_page() {
    let python = include_str!("../../../../bindings/python/python/antiphon/faults.py");
    let quoted = python.split('"').skip(1).step_by(2);
    let is_name = |text: &&str| {
        text.contains('_') && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
    };
    let mut faults: BTreeSet<&str> = quoted.filter(is_name).collect();
    // No error: the server has the item already.
    faults.remove("resent_item");
    assert!(faults.len() >= 15, "{faults:?}");
    let names = names();
    let index = include_str!("../../../../docs/faults.md");
    let missing: Vec<_> =
        faults.iter().filter(|fault| !names.iter().any(|it| it == *fault)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for name in &names {
        assert!(index.contains(&format!("/{name}.md)")), "docs/faults.md does not list {name}");
    }
}

#[test]
fn examples_have_the_fault_and_the_repair_that_their_page_shows() {
    let mut examples = 0;
    for name in names() {
        let page = explain(&[&name]).stdout;
        let [(_, history), ("text", report), (_, repaired)] = blocks(&page)[..] else {
            assert!(page.contains("alone does not show this"), "{name} has no example");
            continue;
        };
        let checked = run("check", history);
        assert_eq!((checked.code, checked.stdout.trim_end()), (Some(1), report), "{name}");
        assert!(report.contains(&name), "{report}");
        assert_eq!(run("repair", history).stdout.trim_end(), repaired, "{name}");
        examples += 1;
    }
    assert_eq!(examples, 12);
}

/// Reports also have repairs for which no provider has an error.
#[test]
fn repairs_of_the_gateway_are_explained_by_name() {
    let explained = explain(&["adapted_field"]);
    assert_eq!(explained.code, Some(0), "{}", explained.stderr);
    assert!(explained.stdout.starts_with("# adapted_field\n"), "{}", explained.stdout);
}

#[test]
fn errors_are_explained_by_their_text() {
    let text = "Error code: 400 - {'message': 'No tool output found for function call call_9.'}";
    let explained = explain(&[text]);
    assert_eq!(explained.code, Some(0));
    assert!(explained.stdout.starts_with("# unanswered_call\n"), "{}", explained.stdout);
    let in_words: Vec<&str> = text.split(' ').collect();
    assert_eq!(explain(&in_words).stdout, explained.stdout);
}

#[test]
fn unknown_text_is_refused() {
    let refused = explain(&["Rate limit reached"]);
    assert_eq!((refused.code, &*refused.stdout), (Some(2), ""));
    assert_eq!(
        refused.stderr,
        "error: no fault has this name or text; 'antiphon explain' lists all of them\n"
    );
}
