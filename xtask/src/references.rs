//! References in documents: a path, a test, a flag, a command of `cargo xtask`, a link or an anchor
//! that a document names must exist.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::CommandLine;
use crate::guarantees;

/// The files and the words that documents can refer to.
pub(crate) struct References<'a> {
    root: &'a Path,
    files: &'a [PathBuf],
    /// The words of all source files.
    words: HashSet<String>,
}

impl<'a> References<'a> {
    /// Reads `files`, which are relative to `root`.
    pub(crate) fn read(root: &'a Path, files: &'a [PathBuf]) -> Self {
        let sources = files.iter().filter(|file| extension(file).is_some_and(is_source));
        let mut known = HashSet::new();
        for text in sources.filter_map(|file| fs::read_to_string(root.join(file)).ok()) {
            for word in words(&text) {
                if !known.contains(word) {
                    known.insert(word.to_owned());
                }
            }
        }
        Self { root, files, words: known }
    }

    /// The faults in a document, each as `line: sentence`; none if the file is no document, or if
    /// it describes earlier versions.
    pub(crate) fn faults_in(&self, path: &Path, text: &str) -> Vec<String> {
        if extension(path) != Some("md") || path.ends_with("CHANGELOG.md") {
            return Vec::new();
        }
        let mut faults = BTreeMap::new();
        for span in spans(text) {
            faults.extend(self.fault_of_span(path, span).map(|fault| (line_of(text, span), fault)));
        }
        for target in link_targets(text) {
            let fault = self.fault_of_link(path, text, target);
            faults.extend(fault.map(|fault| (line_of(text, target), fault)));
        }
        for flag in words(text).filter(|word| is_flag(word) && !self.defines(word)) {
            faults.insert(line_of(text, flag), format!("no source file has the flag {flag}"));
        }
        for command in xtask_commands(text) {
            faults.extend(parse_xtask(command).map(|fault| (line_of(text, command), fault)));
        }
        faults.into_iter().map(|(line, fault)| format!("{line}: {fault}")).collect()
    }

    fn fault_of_span(&self, document: &Path, span: &str) -> Option<String> {
        if let Some((file, test)) = span.split_once("::").filter(|(file, _)| file.contains(".rs")) {
            let exists = guarantees::exists(self.root, self.files, file, test);
            return (!exists).then(|| format!("test {test} does not exist in {file}"));
        }
        let exists = !is_path(span) || self.has_file(document, span);
        (!exists).then(|| format!("{span} does not exist"))
    }

    /// Whether a file or a directory has this path or ends with it.
    fn has_file(&self, document: &Path, path: &str) -> bool {
        let beside = document.parent().is_some_and(|it| self.root.join(it).join(path).exists());
        let is_directory = path.ends_with('/');
        beside
            || self.files.iter().any(|file| match is_directory {
                true => file.ancestors().any(|directory| directory.ends_with(path)),
                false => file.ends_with(path),
            })
    }

    /// Whether a source file has the flag, or the field that the flag is made from.
    fn defines(&self, flag: &str) -> bool {
        let name = &flag[2..];
        let forms = [flag, name, &name.replace('-', "_")];
        forms.iter().any(|form| self.words.contains(*form)) || OTHER_PROGRAMS.contains(&flag)
    }

    fn fault_of_link(&self, document: &Path, text: &str, target: &str) -> Option<String> {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let file = self.root.join(document).parent()?.join(path);
        if !file.exists() {
            return Some(format!("{path} does not exist"));
        }
        let of_another = (!path.is_empty()).then(|| fs::read_to_string(file).unwrap_or_default());
        let text = of_another.as_deref().unwrap_or(text);
        let exists = anchor.is_empty() || headings(text).any(|heading| slug(heading) == anchor);
        (!exists).then(|| format!("the linked page has no heading #{anchor}"))
    }
}

/// The flags of other programs that documents name and no source file uses.
const OTHER_PROGRAMS: [&str; 7] = [
    "--cap-drop",
    "--health-cmd",
    "--from-literal",
    "--if-exists",
    "--omit-lockfile-registry-resolved",
    "--stop-timeout",
    "--volume",
];

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

/// Whether files with this extension define flags.
fn is_source(extension: &str) -> bool {
    matches!(extension, "rs" | "py" | "js" | "mjs" | "ts" | "toml")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '_' | '-')))
}

fn is_flag(word: &str) -> bool {
    let name = word.strip_prefix("--");
    name.is_some_and(|name| name.starts_with(|it: char| it.is_ascii_lowercase()))
}

/// The text outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").step_by(2)
}

/// The text between two backquotes.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(|part| part.split('`').skip(1).step_by(2))
}

/// The targets of links within the repository.
fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    let targets = prose(text).flat_map(|part| part.split("](").skip(1));
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains([':', ' ', '`']))
}

/// The commands of `cargo xtask`, without comments and examples of values.
fn xtask_commands(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.match_indices("cargo xtask ").map(|(at, _)| &text[at..]);
    commands.filter_map(|rest| rest.split(['`', '\n', '#', '|', ')']).next())
}

/// The fault of a command that `cargo xtask` does not understand.
fn parse_xtask(command: &str) -> Option<String> {
    let words = command.split_whitespace().skip(1);
    let parsed = CommandLine::try_parse_from(words);
    parsed.err().map(|_| format!("`{}` is no command", command.trim()))
}

/// Whether the text in backquotes is the path of a file or a directory of the repository. Words in
/// capitals stand for something else.
fn is_path(span: &str) -> bool {
    let is_placeholder = |part: &str| part.chars().all(|it| it.is_ascii_uppercase());
    let has_characters = span.chars().all(|it| it.is_ascii_alphanumeric() || "_-./".contains(it));
    let is_file = match extension(Path::new(span)) {
        Some("json" | "toml" | "md" | "txt" | "yml") => span.contains('/'),
        Some(extension) => is_source(extension),
        None => false,
    };
    has_characters
        && !span.starts_with('/')
        && (is_file || span.ends_with('/'))
        && !span.trim_end_matches('/').split('/').any(is_placeholder)
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text).flat_map(str::lines).filter(|line| line.starts_with('#'))
}

/// The anchor of a heading, as `GitHub` makes it.
fn slug(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.map(|it| if it == ' ' { '-' } else { it }).collect()
}

/// The line of a part of `text`, counted from 1.
fn line_of(text: &str, part: &str) -> usize {
    let at = part.as_ptr() as usize - text.as_ptr() as usize;
    text[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = ["src/references.rs".into(), "src/step.rs".into(), "src/chaos.rs".into()];
        References::read(root, &files).faults_in(Path::new("page.md"), text)
    }

    #[test]
    fn existing_references_are_accepted() {
        let text = "# A `b`, c\n[one](src/step.rs) [two](#a-b-c) [three](https://example.com)\n\
                    `src/chaos.rs`, `step.rs`, `src/`, `dialect/NAME/`, `/v1/files`, `x.json`\n\
                    `references.rs::existing_references_are_accepted`\n```\n`gone.rs`\n```\n\
                    `cargo xtask test --only prose --long`\n";
        assert_eq!(faults(text), [""; 0]);
    }

    #[test]
    fn dangling_references_are_faults() {
        let names = "`gone.rs`\n`gone/`\n`step.rs::no_such_test`\n";
        let links = "[a](gone.md)\n[b](#gone)\n";
        let commands = format!("`--{}-flag`\n`cargo xtask gone`\n", "gone");
        assert_eq!(
            faults(&format!("{names}{links}{commands}")),
            [
                "1: gone.rs does not exist",
                "2: gone/ does not exist",
                "3: test no_such_test does not exist in step.rs",
                "4: gone.md does not exist",
                "5: the linked page has no heading #gone",
                concat!("6: no source file has the flag --gone", "-flag"),
                "7: `cargo xtask gone` is no command",
            ]
        );
    }
}
