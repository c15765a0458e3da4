//! `cargo xtask optimize`: a release build that is optimized for the turns of a load
//! (profile-guided optimization).
//!
//! An instrumented build counts how often a load executes each branch. The compiler then places the
//! frequent code together, and inlines it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::{Value, json};

use crate::cold_build::remove;
use crate::measurements::{LOAD, build};
use crate::size::ensure_small;
use crate::workspace::Workspace;

/// The platform and the linker of the build.
#[derive(Args)]
pub(crate) struct Optimize {
    /// The platform to build for, whose programs this machine runs; by default, its own
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Compile the parts in C and link with Zig, by `cargo zigbuild`
    #[arg(long)]
    zig: bool,
}

/// The cases of the load: every API of clients and upstreams, stored and passed on.
const CASES: [&str; 8] =
    ["json", "stream-60", "chain-100", "writers", "tools", "aborts", "chat", "translated"];

/// The profile in `Cargo.toml`. Both builds need the same one: the names of functions depend on it,
/// and with them the counts.
const PROFILE: &str = "optimized";

/// The servers of the load. PostgreSQL is left out if it is not installed.
const SERVERS: [&str; 2] = ["antiphon-sqlite", "antiphon-postgres"];

/// Builds the gateway twice, with the load between, and prints the path of the second build.
pub(crate) fn run(workspace: &Workspace, optimize: &Optimize) -> anyhow::Result<ExitCode> {
    let merge = ProfileTool::find(workspace)?;
    let target = match &optimize.target {
        Some(target) => target.clone(),
        None => host(workspace)?,
    };
    let folder = workspace.target.join("profile-guided");
    let stage = Stage { workspace, target, folder, zig: optimize.zig };
    let profiles = stage.folder.join("profiles");
    remove(&profiles)?;
    let counting =
        stage.build("instrumented", &format!("-Cprofile-generate={}", profiles.display()))?;
    stage.train(&counting)?;
    let profile = stage.folder.join("turns.profdata");
    merge.merge(workspace, &profiles, &profile)?;
    let built = stage.build("", &format!("-Cprofile-use={}", profile.display()))?;
    ensure_small(&built)?;
    println!("{}", built.display());
    Ok(ExitCode::SUCCESS)
}

/// The builds of one platform.
struct Stage<'a> {
    workspace: &'a Workspace,
    target: String,
    folder: PathBuf,
    zig: bool,
}

impl Stage<'_> {
    /// Builds the gateway with this flag of the compiler, below `folder/name`. Returns its path.
    ///
    /// A target is always named: otherwise the flag would also apply to build scripts.
    fn build(&self, name: &str, flag: &str) -> anyhow::Result<PathBuf> {
        let folder = self.folder.join(name);
        let subcommand = if self.zig { "zigbuild" } else { "build" };
        let mut cargo = self.workspace.cargo(&[subcommand, "--profile", PROFILE, "--locked"]);
        cargo.args(["--package=antiphon-cli", "--bin=antiphon", "--target", &self.target]);
        cargo.env("CARGO_TARGET_DIR", &folder);
        cargo.env(ENCODED_FLAGS, with_flag(flags_of_environment(), flag));
        ensure!(cargo.status().context("could not run cargo")?.success(), "the build failed");
        let binary = folder.join(&self.target).join(PROFILE).join("antiphon");
        Ok(binary.with_extension(env::consts::EXE_EXTENSION))
    }

    /// Runs the load on an instrumented gateway, which writes its counts when it stops.
    fn train(&self, gateway: &Path) -> anyhow::Result<()> {
        build(self.workspace, LOAD)?;
        let mut load = self.workspace.command(self.workspace.release("gateway-bench"));
        load.args(["--short", "--stop-in-order", "--antiphon"]).arg(gateway);
        let results = self.folder.join("results.json");
        load.arg("--folder").arg(self.folder.join("load")).arg("--json").arg(&results);
        load.args(CASES.iter().flat_map(|case| ["--case", case]));
        load.args(SERVERS.iter().flat_map(|server| ["--server", server]));
        ensure!(load.status().context("could not run the load")?.success(), "the load failed");
        check(&serde_json::from_slice(&fs::read(results)?)?)
    }
}

/// Fails if a part of the load is missing or failed: the gateway would not be optimized for it.
fn check(results: &Value) -> anyhow::Result<()> {
    let rows = results.as_array().map_or(&[][..], Vec::as_slice);
    for row in rows {
        let has_failed = !row["void"].is_null() || row["notes"] != json!([]);
        ensure!(!has_failed, "the load failed: {row}");
    }
    for case in CASES {
        let is_of_case = |row: &Value| row["case"].as_str().is_some_and(|it| it.starts_with(case));
        ensure!(rows.iter().any(is_of_case), "the load has no results of {case}");
    }
    Ok(())
}

/// `llvm-profdata`, which merges the counts of several processes.
struct ProfileTool(PathBuf);

/// The oldest LLVM whose tool reads the counts of a current compiler.
const OLDEST_LLVM: u32 = 19;
/// Tools are looked for up to this version, which is years away.
const NEWEST_LLVM: u32 = 40;

const MISSING: &str = "llvm-profdata of LLVM 19 or newer is not installed: run `rustup component \
    add llvm-tools`, or on Debian `apt-get install llvm-19`";

impl ProfileTool {
    /// Finds the toolchain's own, or one in the search path.
    fn find(workspace: &Workspace) -> anyhow::Result<Self> {
        let libraries = rustc(workspace, &["--print", "target-libdir"])?;
        let own = Path::new(libraries.trim()).with_file_name("bin").join("llvm-profdata");
        let numbered = (OLDEST_LLVM..=NEWEST_LLVM).rev().map(|it| format!("llvm-profdata-{it}"));
        let others = numbered.chain(["llvm-profdata".to_owned()]).map(PathBuf::from);
        let mut candidates = std::iter::once(own).chain(others);
        let is_usable = |program: &PathBuf| {
            let version = workspace.command(program).arg("--version").output();
            version
                .is_ok_and(|it| llvm_version(&String::from_utf8_lossy(&it.stdout)) >= OLDEST_LLVM)
        };
        candidates.find(is_usable).map(Self).context(MISSING)
    }

    /// Merges the counts in a folder.
    fn merge(&self, workspace: &Workspace, counts: &Path, profile: &Path) -> anyhow::Result<()> {
        let mut merge = workspace.command(&self.0);
        merge.args(["merge", "--output"]).arg(profile).arg(counts);
        let merged = merge.status().context("could not run llvm-profdata")?;
        ensure!(merged.success(), "llvm-profdata could not merge {}", counts.display());
        Ok(())
    }
}

/// The number in `LLVM version 19.1.7`; 0 if there is none.
fn llvm_version(text: &str) -> u32 {
    let number = text.split("LLVM version ").nth(1).and_then(|rest| rest.split('.').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The platform of the compiler.
fn host(workspace: &Workspace) -> anyhow::Result<String> {
    let version = rustc(workspace, &["--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

fn rustc(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<String> {
    let mut rustc: Command = workspace.command("rustc");
    let output = rustc.args(arguments).output().context("could not run rustc")?;
    ensure!(output.status.success(), "rustc {} failed", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

/// The variable with the compiler's flags, which may contain blanks, and its separator.
const ENCODED_FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
const SEPARATOR: &str = "\x1f";

/// The flags of the environment, which cargo would use, encoded.
fn flags_of_environment() -> String {
    env::var(ENCODED_FLAGS).unwrap_or_else(|_| {
        let flags = env::var("RUSTFLAGS").unwrap_or_default();
        flags.split_whitespace().collect::<Vec<_>>().join(SEPARATOR)
    })
}

/// Encoded flags with one more.
fn with_flag(flags: String, flag: &str) -> String {
    if flags.is_empty() { flag.to_owned() } else { flags + SEPARATOR + flag }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the output of the tool of LLVM 19 on Debian, and of LLVM 22 of the toolchain.
    #[test]
    fn version_is_read_from_the_output_of_the_tool() {
        assert_eq!(llvm_version("Debian LLVM version 19.1.7\n  Optimized build.\n"), 19);
        assert_eq!(
            llvm_version("LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0\n"),
            22
        );
        assert_eq!(llvm_version("llvm-profdata: no such option"), 0);
    }

    #[test]
    fn failed_case_is_an_error() {
        let row = |case: &&str| json!({"case": case, "notes": [], "void": null});
        let rows: Value = CASES.iter().map(row).collect();
        check(&rows).unwrap();
        for (field, value) in [("notes", json!(["4 of 500 failed"])), ("void", json!("1 wrong"))] {
            let mut failed = rows.clone();
            failed[1][field] = value;
            let error = check(&failed).unwrap_err().to_string();
            assert!(error.starts_with("the load failed: "), "{error}");
        }
        let error = check(&json!([row(&"json")])).unwrap_err().to_string();
        assert_eq!(error, "the load has no results of stream-60");
    }

    #[test]
    fn flag_is_added_to_others() {
        let flag = "-Cprofile-use=turns.profdata";
        assert_eq!(with_flag(String::new(), flag), flag);
        let both = with_flag("-C\x1ftarget-feature=+crt-static".to_owned(), flag);
        assert_eq!(both, format!("-C\x1ftarget-feature=+crt-static\x1f{flag}"));
    }
}
