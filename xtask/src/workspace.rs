//! The paths of the workspace.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The workspace's root directory and cargo's target directory.
pub(crate) struct Workspace {
    /// The directory of the workspace's manifest.
    pub(crate) root: PathBuf,
    /// Cargo's target directory: `CARGO_TARGET_DIR` if it is set.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// The workspace of the working directory, according to cargo.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let metadata = metadata()?;
        let path = |name| metadata[name].as_str().map(PathBuf::from).context("no path");
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")? })
    }

    /// A binary of the development profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name).with_extension(env::consts::EXE_EXTENSION)
    }

    /// A binary of the release profile.
    pub(crate) fn release(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name).with_extension(env::consts::EXE_EXTENSION)
    }

    /// A command that runs in the root directory.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// A cargo command with these arguments.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = self.command(cargo());
        command.args(args);
        command
    }

    /// The command that builds the binaries that the tests start.
    pub(crate) fn build_command(&self) -> Command {
        self.cargo(BUILD)
    }
}

/// The manifests of the workspace's crates, as `cargo metadata` prints them.
pub(crate) fn metadata() -> anyhow::Result<Value> {
    let output = Command::new(cargo())
        .args(["metadata", "--no-deps", "--format-version=1"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("could not run cargo")?;
    ensure!(output.status.success(), "cargo metadata failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

const BUILD: &[&str] = &[
    "build",
    "--package=antiphon-cli",
    "--bin=antiphon",
    "--package=antiphon-testkit",
    "--bin=fake-upstream",
    "--package=antiphon-chaos",
    "--bin=antiphon-chaos",
];

/// The cargo that runs this program, so that all steps use the same toolchain.
fn cargo() -> std::ffi::OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
