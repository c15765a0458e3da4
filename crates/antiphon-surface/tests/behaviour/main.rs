//! Runs every case of `tests/behaviour/`. The README.md there explains them.

#![allow(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

mod case;
mod conversion;
mod json;
mod lists;
mod stateful;
mod tracker;

use std::fs;
use std::path::{Path, PathBuf};

use case::Case;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/behaviour");

#[test]
fn every_case_has_its_expected_result() {
    let failures: Vec<String> = files().iter().flat_map(|file| failures(file)).collect();
    assert!(failures.is_empty(), "{} cases failed:\n\n{}", failures.len(), failures.join("\n\n"));
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut files: Vec<PathBuf> = entries.filter(is_json).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no cases in {CASES}");
    files
}

/// The failures of a file's cases, each with the name of its case.
fn failures(file: &Path) -> Vec<String> {
    let name = file.file_name().unwrap().to_string_lossy();
    let text = fs::read_to_string(file).unwrap();
    let cases: Vec<Case<'_>> =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!cases.is_empty(), "{name} has no cases");
    let failure = |case: &Case<'_>| {
        let failure = case.run().err()?;
        Some(format!("{name}: {}\n  {failure}", case.name))
    };
    cases.iter().filter_map(failure).collect()
}
