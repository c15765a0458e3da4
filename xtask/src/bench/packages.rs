//! The cost of a repair of the same items in each language.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::output;
use crate::workspace::Workspace;

/// The number of items in a history.
const ITEMS: usize = 1_000;
const HISTORIES: [&str; 2] = ["well_formed", "broken_everywhere"];
/// The languages whose packages are measured.
const LANGUAGES: [&str; 2] = ["python", "node"];

/// Measures Rust first, then the packages.
pub(super) fn measure(workspace: &Workspace) -> anyhow::Result<Table> {
    let directory = workspace.target.join("packages").join("bench");
    fs::create_dir_all(&directory)?;
    let files = HISTORIES.map(|name| directory.join(name).with_extension("json"));
    for (name, file) in HISTORIES.iter().zip(&files) {
        let mut histories = cargo_bench(workspace, "antiphon", "histories");
        histories.args([name, ITEMS.to_string().as_str()]);
        fs::write(file, output(histories)?)?;
    }
    let in_rust = files.iter().map(|file| in_rust(workspace, file));
    let in_rust = in_rust.collect::<anyhow::Result<Vec<_>>>()?;
    Table::new(&in_rust, &in_packages(workspace, &files)?)
}

fn in_rust(workspace: &Workspace, file: &Path) -> anyhow::Result<Value> {
    let mut repair = cargo_bench(workspace, "antiphon-surface", "repair");
    repair.arg(file);
    Ok(serde_json::from_str(&output(repair)?)?)
}

/// Measures the packages: one line of JSON for each language and history. The script also prints
/// lines about the installation.
fn in_packages(workspace: &Workspace, files: &[PathBuf]) -> anyhow::Result<Vec<Value>> {
    let mut bench = workspace.command("python3");
    bench.arg("tests/packages/bench.py");
    bench.arg("--build-dir").arg(workspace.target.join("packages"));
    bench.arg("--clients-dir").arg(workspace.target.join("clients"));
    bench.args(files);
    let lines = output(bench)?;
    let lines = lines.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn cargo_bench(workspace: &Workspace, package: &str, name: &str) -> Command {
    workspace.cargo(&["bench", "--quiet", "--package", package, "--bench", name, "--"])
}

/// A table with a row for each history.
#[derive(Debug, PartialEq)]
pub(super) struct Table(Vec<Row>);

/// The time of a repair of one history, in nanoseconds.
#[derive(Debug, PartialEq)]
struct Row {
    history: &'static str,
    /// Starting with parsed items.
    from_items: f64,
    /// Starting with JSON text, as a package does.
    from_text: f64,
    packages: Vec<f64>,
}

impl Table {
    /// `in_rust` has an entry for each history; an entry of `in_packages` names its language and
    /// history.
    fn new(in_rust: &[Value], in_packages: &[Value]) -> anyhow::Result<Self> {
        ensure!(in_rust.len() == HISTORIES.len(), "a history was not measured in Rust");
        let rows = HISTORIES.iter().zip(in_rust).map(|(&history, in_rust)| {
            let packages = LANGUAGES.iter().map(|language| {
                let is_it =
                    |line: &&Value| line["language"] == *language && line["history"] == history;
                let line = in_packages.iter().find(is_it);
                nanoseconds(line.unwrap_or(&Value::Null), "repair_ns")
                    .with_context(|| format!("{history} was not measured in {language}"))
            });
            Ok(Row {
                history,
                from_items: nanoseconds(in_rust, "repair_items_ns")?,
                from_text: nanoseconds(in_rust, "repair_ns")?,
                packages: packages.collect::<anyhow::Result<_>>()?,
            })
        });
        Ok(Self(rows.collect::<anyhow::Result<_>>()?))
    }
}

fn nanoseconds(line: &Value, name: &str) -> anyhow::Result<f64> {
    line[name].as_f64().with_context(|| format!("there is no {name}"))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = format!("repair of {ITEMS} items, µs");
        write!(f, "{what:<30} {:>10} {:>10}", "rust/items", "rust/text")?;
        LANGUAGES.iter().try_for_each(|language| write!(f, " {language:>16}"))?;
        for row in &self.0 {
            let Row { history, from_items, from_text, packages } = row;
            write!(f, "\n{history:<30} {:>10.0} {:>10.0}", from_items / 1e3, from_text / 1e3)?;
            for package in packages {
                write!(f, " {:>9.0} ({:.1}x)", package / 1e3, package / from_text)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn in_rust() -> Vec<Value> {
        [100_000, 200_000].map(|it| json!({"repair_ns": it, "repair_items_ns": 50_000})).into()
    }

    fn in_packages() -> Vec<Value> {
        let line = |(language, history, took): (&str, &str, u32)| {
            json!({"language": language,
                "history": history, "items": ITEMS, "repair_ns": took})
        };
        let lines = [
            ("python", "well_formed", 250_000),
            ("python", "broken_everywhere", 600_000),
            ("node", "broken_everywhere", 300_000),
            ("node", "well_formed", 150_000),
        ];
        lines.map(line).into()
    }

    #[test]
    fn languages_are_compared_with_rust_from_text() {
        let table = Table::new(&in_rust(), &in_packages()).unwrap().to_string();
        let rows: Vec<Vec<&str>> =
            table.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["well_formed", "50", "100", "250", "(2.5x)", "150", "(1.5x)"]);
        assert_eq!(rows[1], ["broken_everywhere", "50", "200", "600", "(3.0x)", "300", "(1.5x)"]);
    }

    #[test]
    fn missing_language_is_an_error() {
        let error = Table::new(&in_rust(), &in_packages()[..2]).unwrap_err();
        assert_eq!(error.to_string(), "well_formed was not measured in node");
    }
}
