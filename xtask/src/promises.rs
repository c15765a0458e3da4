//! Documents with tables of guarantees. Every row must name the tests that check it, and these
//! tests must exist.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A document of guarantees.
pub(crate) struct Document {
    path: &'static str,
    /// The heading of the tables; `None` if all tables of the document count.
    section: Option<&'static str>,
}

const DOCUMENTS: [Document; 2] = [
    Document { path: "ARCHITECTURE.md", section: Some("## What is promised when") },
    Document { path: "docs/compliance.md", section: None },
];

impl Document {
    /// The document at `path`, if it has guarantees.
    pub(crate) fn at(path: &Path) -> Option<&'static Self> {
        DOCUMENTS.iter().find(|document| Path::new(document.path) == path)
    }

    /// The faults in `text`, each as `line: sentence`. Tests are searched in `files`, which are
    /// relative to `root`.
    pub(crate) fn faults_of(&self, root: &Path, files: &[PathBuf], text: &str) -> Vec<String> {
        let rows = self.rows(text);
        if rows.is_empty() {
            let section = self.section.map_or_else(String::new, |it| format!(" below '{it}'"));
            return vec![format!("1: has no guarantees{section}")];
        }
        let faults = rows.into_iter().flat_map(|(line, row)| {
            let faults = faults_of_row(root, files, row);
            faults.into_iter().map(move |fault| format!("{line}: {fault}"))
        });
        faults.collect()
    }

    /// The table rows without the headers, and their line numbers.
    fn rows<'t>(&self, text: &'t str) -> Vec<(usize, &'t str)> {
        let lines: Vec<&str> = text.lines().collect();
        let is_rule = |at: usize| lines.get(at).is_some_and(|line| line.starts_with(RULE));
        let is_row = |at: &usize| lines[*at].starts_with('|') && !is_rule(*at) && !is_rule(at + 1);
        self.places(&lines).filter(is_row).map(|at| (at + 1, lines[at])).collect()
    }

    /// The lines that belong to the section.
    fn places(&self, lines: &[&str]) -> Range<usize> {
        let Some(section) = self.section else { return 0..lines.len() };
        let begin = lines.iter().position(|line| *line == section);
        let begin = begin.map_or(lines.len(), |heading| heading + 1);
        let next = lines[begin..].iter().position(|line| line.starts_with("## "));
        begin..next.map_or(lines.len(), |next| begin + next)
    }
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

    fn faults(document: &Document, text: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        document.faults_of(root, &["src/promises.rs".into()], text)
    }

    fn faults_of_rows(rows: &str) -> Vec<String> {
        let section = DOCUMENTS[0].section.unwrap();
        let text = format!("# Map\n{section}\n\n| promise | when | test |\n|---|---|---|\n{rows}");
        faults(&DOCUMENTS[0], &text)
    }

    #[test]
    fn named_test_exists() {
        let row = "| it | now | `promises.rs::named_test_exists` |";
        assert_eq!(faults_of_rows(row), [""; 0]);
    }

    #[test]
    fn row_without_existing_test_is_a_fault() {
        let rows = "| it | now | by hand |\n| it | now | `promises.rs::a_promise_names_a_test` |";
        let none = "7: test a_promise_names_a_test does not exist in promises.rs";
        assert_eq!(faults_of_rows(rows), ["6: a guarantee names no test", none]);
        assert_eq!(faults_of_rows("\n## Next\n| it | now | no |").len(), 1);
    }

    #[test]
    fn document_without_section_checks_every_table() {
        let table = |row: &str| format!("| demand | test |\n|---|---|\n{row}\n");
        let good = "| a | `promises.rs::document_without_section_checks_every_table` |";
        let text = format!("# One\n{}\n## Two\n{}", table(good), table("| b | none |"));
        assert_eq!(faults(&DOCUMENTS[1], &text), ["9: a guarantee names no test"]);
        assert_eq!(faults(&DOCUMENTS[1], "# Empty"), ["1: has no guarantees"]);
    }
}
