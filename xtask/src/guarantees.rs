//! Documents with tables of guarantees. Every row must name the tests that check it, and these
//! tests must exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The documents in which every table row is a guarantee.
const DOCUMENTS: [&str; 2] = ["docs/guarantees.md", "docs/compliance.md"];

/// The faults in a file, each as `line: sentence`; none if it is not a document of guarantees.
/// Tests are searched in `files`, which are relative to `root`.
pub(crate) fn faults_in(path: &Path, root: &Path, files: &[PathBuf], text: &str) -> Vec<String> {
    if !DOCUMENTS.iter().any(|document| Path::new(document) == path) {
        return Vec::new();
    }
    let rows = rows(text);
    if rows.is_empty() {
        return vec!["1: has no guarantees".to_owned()];
    }
    let faults = rows.into_iter().flat_map(|(line, row)| {
        let faults = faults_of_row(root, files, row);
        faults.into_iter().map(move |fault| format!("{line}: {fault}"))
    });
    faults.collect()
}

/// The table rows without the headers, and their line numbers.
fn rows(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |at: usize| lines.get(at).is_some_and(|line| line.starts_with(RULE));
    let is_row = |at: &usize| lines[*at].starts_with('|') && !is_rule(*at) && !is_rule(at + 1);
    (0..lines.len()).filter(is_row).map(|at| (at + 1, lines[at])).collect()
}

/// The start of the line between a table's header and its rows.
const RULE: &str = "|---";

fn faults_of_row(root: &Path, files: &[PathBuf], row: &str) -> Vec<String> {
    let tests: Vec<_> = tests(row).collect();
    if tests.is_empty() {
        return vec!["a guarantee names no test".to_owned()];
    }
    let missing = tests.into_iter().filter(|(file, name)| !exists(root, files, file, name));
    missing.map(|(file, name)| format!("test {name} does not exist in {file}")).collect()
}

/// The tests in a row, written as `FILE::NAME` in backquotes.
fn tests(row: &str) -> impl Iterator<Item = (&str, &str)> {
    row.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::"))
}

/// Whether one of `files` that ends with `file` defines the function `name`.
pub(crate) fn exists(root: &Path, files: &[PathBuf], file: &str, name: &str) -> bool {
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

    fn faults(text: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        faults_in(Path::new(DOCUMENTS[0]), root, &["src/guarantees.rs".into()], text)
    }

    #[test]
    fn named_test_exists() {
        let row = "| it | now | `guarantees.rs::named_test_exists` |";
        assert_eq!(faults(&format!("| a | when | test |\n|---|---|---|\n{row}")), [""; 0]);
    }

    #[test]
    fn row_without_existing_test_is_a_fault() {
        let rows = "| it | now | by hand |\n| it | now | `guarantees.rs::no_such_test` |";
        let none = "4: test no_such_test does not exist in guarantees.rs";
        let text = format!("| a | when | test |\n|---|---|---|\n{rows}");
        assert_eq!(faults(&text), ["3: a guarantee names no test", none]);
    }

    #[test]
    fn every_table_is_checked() {
        let table = |row: &str| format!("| demand | test |\n|---|---|\n{row}\n");
        let good = "| a | `guarantees.rs::every_table_is_checked` |";
        let text = format!("# One\n{}\n## Two\n{}", table(good), table("| b | none |"));
        assert_eq!(faults(&text), ["9: a guarantee names no test"]);
        assert_eq!(faults("# Empty"), ["1: has no guarantees"]);
    }
}
