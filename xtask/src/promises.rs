//! Every promise that the architecture makes names the tests that hold it, and these exist.

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENT: &str = "ARCHITECTURE.md";
const SECTION: &str = "## What is promised when";

/// The document, where it has to be read.
pub(crate) fn is_document(path: &Path) -> bool {
    path == Path::new(DOCUMENT)
}

/// The faults of the section in `text`, each as `line: sentence`. Tests are looked for in `files`,
/// below `root`.
pub(crate) fn faults_of(root: &Path, files: &[PathBuf], text: &str) -> Vec<String> {
    let rows: Vec<_> = rows(text).collect();
    if rows.is_empty() {
        return vec![format!("1: has no promises below '{SECTION}'")];
    }
    let faults = rows.into_iter().flat_map(|(line, row)| {
        let faults = faults_of_row(root, files, row);
        faults.into_iter().map(move |fault| format!("{line}: {fault}"))
    });
    faults.collect()
}

/// The rows of the section's tables, without their heads, and the numbers of their lines.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let section = lines.skip_while(|(_, line)| *line != SECTION).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let table = section.filter(|(_, line)| line.starts_with('|'));
    table.filter(|(_, line)| !line.starts_with("| promise |") && !line.starts_with("|---"))
}

fn faults_of_row(root: &Path, files: &[PathBuf], row: &str) -> Vec<String> {
    let tests: Vec<_> = tests(row).collect();
    if tests.is_empty() {
        return vec!["a promise names no test".to_owned()];
    }
    let missing = tests.into_iter().filter(|(file, name)| !exists(root, files, file, name));
    missing.map(|(file, name)| format!("there is no test {name} in {file}")).collect()
}

/// What stands in backquotes as `FILE::NAME`.
fn tests(row: &str) -> impl Iterator<Item = (&str, &str)> {
    row.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::"))
}

fn exists(root: &Path, files: &[PathBuf], file: &str, name: &str) -> bool {
    let definition = format!("fn {name}");
    let of_this_name = files.iter().filter(|path| path.ends_with(file));
    let mut texts = of_this_name.filter_map(|path| fs::read_to_string(root.join(path)).ok());
    texts.any(|text| {
        let mut places = text.match_indices(&definition);
        places.any(|(at, _)| text[at + definition.len()..].starts_with(['(', '<', ',']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(rows: &str) -> Vec<String> {
        let text = format!("# Map\n{SECTION}\n\n| promise | when | test |\n|---|---|---|\n{rows}");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        faults_of(root, &["src/promises.rs".into()], &text)
    }

    #[test]
    fn a_promise_names_a_test_that_exists() {
        let row = "| it | now | `promises.rs::a_promise_names_a_test_that_exists` |";
        assert_eq!(faults(row), [""; 0]);
    }

    #[test]
    fn what_is_not_tested_is_found() {
        let rows = "| it | now | by hand |\n| it | now | `promises.rs::a_promise_names_a_test` |";
        let none = "7: there is no test a_promise_names_a_test in promises.rs";
        assert_eq!(faults(rows), ["6: a promise names no test", none]);
        assert_eq!(faults("\n## Next\n| it | now | no |").len(), 1);
    }
}
