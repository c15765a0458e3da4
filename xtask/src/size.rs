//! `cargo xtask size`: the size of the release binary, against a bound.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::cold_build::ColdBuild;
use crate::measurements;
use crate::report::Report;
use crate::run::timed;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// The build to measure.
#[derive(Args)]
pub(crate) struct Size {
    /// Build the gateway and all dependencies in a new directory, and print the time of the build
    #[arg(long)]
    build: bool,
}

/// The maximum size in bytes on Linux on x86-64.
const MAX_SIZE: u64 = 25_000_000;

/// The number of sections that are printed.
const SECTIONS: usize = 6;

/// Builds the gateway and prints its size and its largest sections. Fails if the binary is larger
/// than the bound.
pub(crate) fn run(workspace: &Workspace, size: &Size) -> Report {
    let mut report = Report::default();
    report.add(timed("size", || if size.build { check_cold(workspace) } else { check(workspace) }));
    report
}

fn check(workspace: &Workspace) -> anyhow::Result<Tally> {
    measurements::build_gateway(workspace)?;
    check_binary(workspace, &workspace.release("antiphon"))
}

fn check_cold(workspace: &Workspace) -> anyhow::Result<Tally> {
    let build = ColdBuild::run(workspace)?;
    print!("{build}");
    check_binary(workspace, &build.binary())
}

fn check_binary(workspace: &Workspace, binary: &Path) -> anyhow::Result<Tally> {
    let size = bytes(binary)?;
    println!("{size:>10} bytes; the bound is {MAX_SIZE}");
    print_sections(workspace, binary);
    Ok(Tally::one(is_small(size)))
}

/// Fails if the binary is larger than the bound.
pub(crate) fn ensure_small(binary: &Path) -> anyhow::Result<()> {
    let size = bytes(binary)?;
    ensure!(is_small(size), "the binary has {size} bytes; the bound is {MAX_SIZE}");
    Ok(())
}

fn bytes(binary: &Path) -> anyhow::Result<u64> {
    Ok(fs::metadata(binary).with_context(|| binary.display().to_string())?.len())
}

fn is_small(size: u64) -> bool {
    size <= MAX_SIZE || cfg!(not(all(target_arch = "x86_64", target_os = "linux")))
}

/// Prints the largest sections, if `size` of the GNU binutils is installed.
fn print_sections(workspace: &Workspace, binary: &Path) {
    let Ok(output) = workspace.command("size").args(["-A", "-d"]).arg(binary).output() else {
        return;
    };
    let mut sections = parse(&String::from_utf8_lossy(&output.stdout));
    sections.sort_by_key(|(_, size)| Reverse(*size));
    for (name, size) in sections.iter().take(SECTIONS) {
        println!("{size:>10} {name}");
    }
}

/// The names and sizes of the sections that are part of the file.
fn parse(output: &str) -> Vec<(String, u64)> {
    let section = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| name.starts_with('.') && *name != ".bss")?;
        Some((name.to_owned(), words.next()?.parse().ok()?))
    };
    output.lines().filter_map(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: `size -A -d` of the GNU binutils.
    #[test]
    fn sections_are_read_from_the_output_of_size() {
        let output = "antiphon  :\nsection       size       addr\n\
                      .text     18247932   53263616\n.bss       2139920   72280320\n\
                      .data        31096   72249216\nTotal     20418948\n";
        let sections = [(".text".to_owned(), 18_247_932), (".data".to_owned(), 31_096)];
        assert_eq!(parse(output), sections);
    }
}
