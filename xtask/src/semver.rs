//! Compares the public API of the published libraries with that of the last release.

use anyhow::Context as _;

use crate::run::execute;
use crate::tally::{Counts, Tally};
use crate::tools::CARGO_SEMVER_CHECKS;
use crate::workspace::Workspace;

/// The libraries whose public API follows semantic versioning.
const LIBRARIES: [&str; 3] = ["antiphon", "antiphon-mock", "antiphon-store"];

/// Fails if the version of a library does not allow a change since the last release. A repository
/// without a release has nothing to compare with, so the step passes without installing the tool.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Tally> {
    let Some(release) = last_release(workspace)? else {
        println!("skipped: no commit before this one has a tag v*, so there is no released API");
        return Ok(Tally::one(true));
    };
    println!("comparing the public API with {release}");
    let mut checks = workspace.command(CARGO_SEMVER_CHECKS.install(workspace)?);
    checks.args(["semver-checks", "--baseline-rev", &release]);
    for library in LIBRARIES {
        checks.args(["--package", library]);
    }
    execute(checks, Counts::None)
}

/// The latest tag `v*` before this commit.
fn last_release(workspace: &Workspace) -> anyhow::Result<Option<String>> {
    let output = workspace
        .command("git")
        .args(["describe", "--tags", "--abbrev=0", "--match=v[0-9]*", "HEAD^"])
        .output()
        .context("could not run git")?;
    let tag = String::from_utf8(output.stdout)?;
    Ok(output.status.success().then(|| tag.trim().to_owned()))
}
