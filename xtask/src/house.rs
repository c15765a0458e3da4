//! Repository rules that no other tool checks: forbidden text, the length of files and lines, the
//! dependencies between modules and crates, examples in documentation, and references in documents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::doctests;
use crate::guarantees;
use crate::harness;
use crate::layers;
use crate::references::References;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Checks every file that git tracks or would add. Prints each fault as `path:line: sentence`.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Tally> {
    let mut faults = 0;
    let files = files(workspace)?;
    let references = References::read(&workspace.root, &files);
    for path in &files {
        // Binary files have no prose, and a tracked file may be deleted in the working tree.
        let Ok(text) = fs::read_to_string(workspace.root.join(path)) else {
            continue;
        };
        let mut found = faults_of(path, &text);
        found.extend(guarantees::faults_in(path, &workspace.root, &files, &text));
        found.extend(references.faults_in(path, &text));
        for fault in found {
            println!("{}:{fault}", path.display());
            faults += 1;
        }
    }
    let mut of_crates = layers::check(workspace)?;
    of_crates.extend(harness::check()?);
    of_crates.extend(doctests::check(&workspace.root)?);
    for fault in of_crates {
        println!("{fault}");
        faults += 1;
    }
    Ok(Tally::one(faults == 0))
}

fn files(workspace: &Workspace) -> anyhow::Result<Vec<PathBuf>> {
    let output = workspace
        .command("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("could not run git")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let names = String::from_utf8(output.stdout)?;
    Ok(names.split_terminator('\0').map(PathBuf::from).collect())
}

/// The faults in a file, each as `line: sentence`.
fn faults_of(path: &Path, text: &str) -> Vec<String> {
    if is_lock_file(path) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fault = |sentence: String| format!("{}: {sentence}", index + 1);
        faults.extend(registry_in(line).map(|host| fault(format!("contains registry {host}"))));
        faults.extend(home_in(line).map(|home| fault(format!("contains a path below {home}"))));
        faults.extend(too_wide(path, line).map(fault));
    }
    faults.extend(too_long(path, text));
    faults
}

/// Whether the file is a lock file. Lock files name the sources of packages on purpose.
fn is_lock_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with("-lock.yaml")
}

fn too_long(path: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let is_code = path.extension().is_some_and(|it| CODE.iter().any(|&code| it == code));
    (is_code && lines > MAX_LINES)
        .then(|| format!("{}: the file has {lines} lines; the limit is {MAX_LINES}", MAX_LINES + 1))
}

/// rustfmt leaves a line as it is if a comment, a literal or a macro makes it too long.
fn too_wide(path: &Path, line: &str) -> Option<String> {
    let columns = line.chars().count();
    (path.extension()? == "rs" && columns > MAX_COLUMNS)
        .then(|| format!("the line has {columns} columns; the limit is {MAX_COLUMNS}"))
}

/// The host of a package registry. Only lock files may name one, because users may have a mirror, a
/// proxy or another registry.
fn registry_in(line: &str) -> Option<&'static str> {
    REGISTRIES.into_iter().find(|host| line.contains(host))
}

/// A directory that exists on one machine only, at the start of an absolute path.
fn home_in(line: &str) -> Option<&'static str> {
    HOMES.into_iter().find(|home| {
        let mut places = line.match_indices(home);
        places.any(|(at, _)| !line[..at].ends_with(continues_a_path))
    })
}

fn continues_a_path(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '-' | '_' | '/' | '}' | '~' | '*')
}

const MAX_LINES: usize = 500;

/// The limit of `rustfmt.toml`. A longer text that must stay in one line belongs in a file of its
/// own, which `include_str!` reads.
const MAX_COLUMNS: usize = 100;

/// The extensions of source files.
const CODE: [&str; 9] = ["rs", "py", "pyi", "js", "mjs", "cjs", "ts", "mts", "cts"];

// Each string has two parts, so that this file passes its own check.
const REGISTRIES: [&str; 8] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("registry.yarnpkg", ".com"),
    concat!("proxy.golang", ".org"),
    concat!("repo.maven.apache", ".org"),
];

const HOMES: [&str; 6] = [
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
    concat!("/", "work/"),
    concat!("/", "workspace/"),
    concat!("/", "workspaces/"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(path: &str, text: &str) -> Vec<String> {
        faults_of(Path::new(path), text)
    }

    #[test]
    fn registry_is_allowed_in_lock_files_only() {
        let text = format!("first\nsee https://{}/packages", REGISTRIES[1]);
        let fault = format!("2: contains registry {}", REGISTRIES[1]);
        assert_eq!(faults("README.md", &text), [fault]);
        for lock in ["Cargo.lock", "tests/package-lock.json", "uv.lock"] {
            assert_eq!(faults(lock, &text), [""; 0], "{lock}");
        }
    }

    #[test]
    fn local_path_is_a_fault() {
        for home in HOMES {
            let fault = format!("1: contains a path below {home}");
            assert_eq!(faults("notes.md", &format!("in {home}mira/code")), [fault], "{home}");
            let url = format!("https://host.example{home}page and ./src{home}mod.rs");
            assert_eq!(faults("notes.md", &url), [""; 0], "{home}");
        }
    }

    #[test]
    fn source_files_have_a_line_limit() {
        let most = "//\n".repeat(MAX_LINES);
        let sentence = "501: the file has 501 lines; the limit is 500";
        for path in ["src/lib.rs", "antiphon/tracker.py", "lib/fetch.ts", "build.mjs"] {
            assert_eq!(faults(path, &most), [""; 0], "{path}");
            assert_eq!(faults(path, &format!("{most}//\n")), [sentence], "{path}");
        }
        assert_eq!(faults("table.txt", &format!("{most}//\n")), [""; 0]);
    }

    #[test]
    fn rust_lines_have_a_column_limit() {
        let most = format!("// {}", "…".repeat(MAX_COLUMNS - 3));
        assert_eq!(faults("src/lib.rs", &format!("{most}\r\n{most}\n")), [""; 0]);
        let sentence = "2: the line has 101 columns; the limit is 100";
        assert_eq!(faults("src/lib.rs", &format!("//\n{most}…\n")), [sentence]);
        assert_eq!(faults("src/help.txt", &format!("{most}…\n")), [""; 0]);
    }
}
