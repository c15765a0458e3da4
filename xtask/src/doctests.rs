//! Each public module of a library shows its use in an example that the tests run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The libraries that others use.
const LIBRARIES: [&str; 3] = ["crates/antiphon", "crates/antiphon-mock", "crates/antiphon-store"];

/// The public modules without an example, each as `path: sentence`.
pub(crate) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for library in LIBRARIES {
        let source = Path::new(library).join("src");
        let front = source.join("lib.rs");
        let text = fs::read_to_string(root.join(&front)).with_context(|| library.to_owned())?;
        let modules = public_modules(&text).map(|name| module_file(root, &source, name));
        for file in [front].into_iter().chain(modules) {
            let text = fs::read_to_string(root.join(&file))?;
            if !has_example(&text) {
                faults
                    .push(format!("{}: no runnable example in its documentation", file.display()));
            }
        }
    }
    Ok(faults)
}

fn public_modules(lib: &str) -> impl Iterator<Item = &str> {
    lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
}

fn module_file(root: &Path, source: &Path, name: &str) -> PathBuf {
    let directory = source.join(name).join("mod.rs");
    if root.join(&directory).exists() { directory } else { source.join(format!("{name}.rs")) }
}

/// Whether a documentation comment contains a code block that `cargo test` runs.
fn has_example(text: &str) -> bool {
    let fences = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))?;
        comment.trim().strip_prefix("```")
    });
    fences.step_by(2).any(|language| matches!(language, "" | "no_run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runnable_code_is_an_example() {
        assert!(has_example("//! One.\n//!\n//! ```\n//! run();\n//! ```\n"));
        assert!(has_example("//! ```text\n//! a ──> b\n//! ```\n/// ```\n/// run();\n/// ```\n"));
        assert!(!has_example("//! ```text\n//! a ──> b\n//! ```\n"));
        assert!(!has_example("// ```\n// run();\n// ```\n"));
    }

    #[test]
    fn private_modules_need_no_example() {
        let lib = "mod one;\npub mod two;\npub(crate) mod three;\npub use two::Two;\n";
        assert_eq!(public_modules(lib).collect::<Vec<_>>(), ["two"]);
    }
}
