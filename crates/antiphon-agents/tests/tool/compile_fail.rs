//! Compile errors, with their texts.
//!
//! Each case is compiled against the library that these tests use, so no dependency is built again.
//! `OVERWRITE=1` writes the texts.

#![allow(clippy::unwrap_used, reason = "a case that cannot be compiled fails the test")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, as the paths in errors of the compiler begin.
const PACKAGE: &str = "crates/antiphon-agents/";

#[test]
fn errors_point_at_the_code_of_the_user() {
    let library = library();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let mut cases: Vec<_> = files.filter(|file| file.extension().unwrap() == "rs").collect();
    cases.sort();
    assert!(!cases.is_empty());
    let texts: Vec<String> = std::thread::scope(|scope| {
        let compiling = cases.iter().map(|case| scope.spawn(|| compile(case, &library)));
        let compiling: Vec<_> = compiling.collect();
        compiling.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let mut failures = String::new();
    for (case, text) in cases.iter().zip(texts) {
        let expected = case.with_extension("stderr");
        if std::env::var_os("OVERWRITE").is_some() {
            fs::write(&expected, &text).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != text {
            writeln!(failures, "{}:\n{text}", case.display()).unwrap();
        }
    }
    assert!(failures.is_empty(), "other errors than expected:\n{failures}");
}

/// The library that these tests are linked with: the latest one beside them.
fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let files = fs::read_dir(tests.parent().unwrap()).unwrap().map(Result::unwrap);
    let is_library = |name: &str| {
        let name = name.strip_prefix("libantiphon_agents-");
        name.is_some_and(|hash| Path::new(hash).extension().is_some_and(|it| it == "rlib"))
    };
    let libraries = files.filter(|file| file.file_name().to_str().is_some_and(is_library));
    let latest = libraries.max_by_key(|file| file.metadata().unwrap().modified().unwrap());
    latest.expect("the library is beside its tests").path()
}

/// The errors of a case. Its name and those of the library's files are relative to the package.
fn compile(case: &Path, library: &Path) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let output = tempfile::tempdir().unwrap();
    let compiled = Command::new("rustc")
        .current_dir(workspace)
        .arg(case.strip_prefix(workspace).unwrap())
        .args(["--edition=2024", "--emit=metadata", "--cap-lints=allow", "--color=never"])
        .arg(format!("-Ldependency={}", library.parent().unwrap().display()))
        .arg(format!("--extern=antiphon_agents={}", library.display()))
        .arg(format!("--out-dir={}", output.path().display()))
        .output()
        .unwrap();
    assert!(!compiled.status.success(), "{} compiles", case.display());
    normalized(&String::from_utf8(compiled.stderr).unwrap())
}

/// The errors without the parts that other changes of the library change: the numbers of lines in
/// its files, and the width of the column of numbers.
fn normalized(errors: &str) -> String {
    let (mut lines, mut is_in_library) = (Vec::new(), false);
    for line in errors.lines() {
        let (gutter, source) = line.split_once('|').unwrap_or((line, ""));
        let (gutter, trimmed) = (gutter.trim(), line.trim_start());
        if trimmed.starts_with("--> ") || trimmed.starts_with("::: ") {
            let place = trimmed.replacen(PACKAGE, "", 1);
            is_in_library = !place.contains("tests/");
            let place = place.split(':').filter(|part| !is_in_library || !is_number(part));
            lines.push(format!("  {}", place.collect::<Vec<_>>().join(":")));
        } else if line.contains('|') && (gutter.is_empty() || is_number(gutter)) {
            let gutter = if is_in_library { "" } else { gutter };
            lines.push(format!("{gutter:>3} |{source}"));
        } else if trimmed.starts_with("= ") {
            lines.push(format!("    {trimmed}"));
        } else if line.starts_with("error: aborting") {
            break;
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n").trim_end().to_owned() + "\n"
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit())
}
