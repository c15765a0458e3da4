//! Tools that are not part of the toolchain.

use std::env;
use std::path::PathBuf;

use anyhow::ensure;

use crate::workspace::Workspace;

/// A tool that cargo can install, in one version.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Builds and runs fuzz targets.
pub(crate) const CARGO_FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };

/// Compares the public API of a library with an earlier one.
pub(crate) const CARGO_SEMVER_CHECKS: Tool =
    Tool { name: "cargo-semver-checks", version: "0.51.0" };

/// Runs benchmarks under valgrind. Its version is that of the `gungraun` that they are built with.
pub(crate) const GUNGRAUN_RUNNER: Tool = Tool { name: "gungraun-runner", version: "0.20.0" };

impl Tool {
    /// Installs the tool into the target directory if it is missing, and returns its path.
    pub(crate) fn install(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let Self { name, version } = *self;
        let root = workspace.target.join("tools").join(format!("{name}-{version}"));
        let binary = root.join("bin").join(name).with_extension(env::consts::EXE_EXTENSION);
        if !binary.exists() {
            let mut install = workspace.cargo(&["install", name, "--locked", "--version", version]);
            let status = install.arg("--root").arg(&root).status()?;
            ensure!(status.success(), "could not install {name} {version}");
        }
        Ok(binary)
    }
}

/// Whether valgrind is installed.
pub(crate) fn has_valgrind(workspace: &Workspace) -> bool {
    let mut valgrind = workspace.command("valgrind");
    valgrind.arg("--version").output().is_ok_and(|output| output.status.success())
}
