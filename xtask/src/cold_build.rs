//! A build of the gateway and all of its dependencies from nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::measurements::GATEWAY;
use crate::workspace::Workspace;

/// The number of units that are printed.
const UNITS: usize = 10;

/// A release build in a directory of its own, which is removed at the end.
pub(crate) struct ColdBuild {
    folder: PathBuf,
    took: Duration,
    processor: Option<Duration>,
    units: Vec<Unit>,
}

/// One call of the compiler or of a build script.
#[derive(Debug, PartialEq)]
struct Unit {
    name: String,
    seconds: f64,
}

impl ColdBuild {
    /// Builds the gateway and measures the time.
    pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<Self> {
        let folder = workspace.target.join("cold-build");
        remove(&folder)?;
        let (took, processor, units) = (Duration::ZERO, None, Vec::new());
        let mut build = Self { folder, took, processor, units };
        build.measure(workspace)?;
        Ok(build)
    }

    fn measure(&mut self, workspace: &Workspace) -> anyhow::Result<()> {
        let mut cargo = workspace.cargo(GATEWAY);
        cargo.arg("--timings").env("CARGO_TARGET_DIR", &self.folder);
        let (before, started) = (processor_time(), Instant::now());
        let built = cargo.status().context("could not run cargo")?;
        ensure!(built.success(), "the build failed");
        self.took = started.elapsed();
        self.processor = processor_time().zip(before).map(|(end, start)| end.saturating_sub(start));
        let report = self.folder.join("cargo-timings").join("cargo-timing.html");
        self.units = units(&fs::read_to_string(report)?)?;
        Ok(())
    }

    /// The built gateway.
    pub(crate) fn binary(&self) -> PathBuf {
        self.folder.join("release").join("antiphon")
    }
}

impl fmt::Display for ColdBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>10.1} seconds", self.took.as_secs_f64())?;
        if let Some(processor) = self.processor {
            writeln!(f, "{:>10.1} seconds of processor time", processor.as_secs_f64())?;
        }
        let mut slowest: Vec<&Unit> = self.units.iter().collect();
        slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        for Unit { name, seconds } in slowest.into_iter().take(UNITS) {
            writeln!(f, "{seconds:>10.1} {name}")?;
        }
        Ok(())
    }
}

impl Drop for ColdBuild {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder) {
            println!("could not remove the build: {error:#}");
        }
    }
}

/// Removes a folder, if it exists.
pub(crate) fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

/// The processor time of all programs that this process started and that ended. `None` on systems
/// other than Linux.
fn processor_time() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(CHILDREN_USER);
    let [user, system]: [u64; 2] = [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?];
    Some(Duration::from_millis((user + system) * MILLISECONDS_PER_TICK))
}

/// The position of `cutime` after the program's name; `cstime` follows it.
const CHILDREN_USER: usize = 13;
const MILLISECONDS_PER_TICK: u64 = 10;

/// The units in cargo's report.
fn units(report: &str) -> anyhow::Result<Vec<Unit>> {
    let (_, data) = report.split_once("const UNIT_DATA = ").context("the report has no units")?;
    let (data, _) = data.split_once("];").context("the report has no end of units")?;
    let data: Vec<Value> = serde_json::from_str(&format!("{data}]"))?;
    Ok(data.iter().filter_map(Unit::parse).collect())
}

impl Unit {
    fn parse(unit: &Value) -> Option<Self> {
        let [name, target] = [unit["name"].as_str()?, unit["target"].as_str()?];
        Some(Self { name: format!("{name}{target}"), seconds: unit["duration"].as_f64()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the report of `cargo build --timings`, version 1.95.
    #[test]
    fn units_are_read_from_the_report_of_cargo() {
        let report = concat!(
            "<script>\nDURATION = 3;\nconst UNIT_DATA = [\n",
            r#"{"i": 0, "name": "ring", "version": "0.17.14", "mode": "run-custom-build","#,
            r#" "target": " build-script (run)", "features": ["std"], "start": 38.6,"#,
            r#" "duration": 6.2, "unblocked_units": [1]}"#,
            "\n];\nconst CONCURRENCY_DATA = [];\n</script>",
        );
        let unit = Unit { name: "ring build-script (run)".to_owned(), seconds: 6.2 };
        assert_eq!(units(report).unwrap(), [unit]);
    }
}
