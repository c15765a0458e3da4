//! `cargo xtask fuzz`: runs the fuzz targets for a while.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::report::Report;
use crate::run::{execute, timed};
use crate::tally::{Counts, Tally};
use crate::tools::CARGO_FUZZ;
use crate::workspace::Workspace;

/// The targets to run and their duration.
#[derive(Args)]
pub(crate) struct Fuzz {
    /// The number of seconds for each target
    #[arg(long, value_name = "N", default_value_t = 30)]
    seconds: u64,
    /// Run only this target; may be repeated
    #[arg(long, value_enum, value_name = "NAME")]
    target: Vec<Target>,
    /// Build with `AddressSanitizer`. It checks the dependencies, because our own code has no
    /// `unsafe`. Several times slower
    #[arg(long)]
    sanitize: bool,
}

/// A program in `fuzz/fuzz_targets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Bytes as items: parsed completely or refused, and serialized unchanged
    Items,
    /// Any stored history and any input: one verdict for each item
    Reconcile,
    /// Any list of items: after a repair, validation finds no fault
    Repair,
    /// Any bytes as an event stream: chunk boundaries make no difference
    Sse,
    /// Any upstream: the client gets one well-formed stream
    Assembler,
    /// Any Chat Completions server: the client gets one well-formed stream
    Chat,
    /// Any Anthropic server: the client gets one well-formed stream
    Anthropic,
    /// Any stream of the AI SDK: the client gets one well-formed stream
    #[value(name = "ai_sdk")]
    AiSdk,
    /// Any items for Chat Completions: valid JSON in which every call has an answer
    #[value(name = "chat_request")]
    ChatRequest,
    /// Any items for Anthropic Messages: valid JSON in which every call has an answer
    #[value(name = "anthropic_request")]
    AnthropicRequest,
}

/// Runs the targets one after the other, even if one crashes.
pub(crate) fn run(workspace: &Workspace, fuzz: &Fuzz) -> anyhow::Result<Report> {
    let cargo_fuzz = CARGO_FUZZ.install(workspace)?;
    let mut report = Report::default();
    let is_chosen = |target: &&Target| fuzz.target.is_empty() || fuzz.target.contains(target);
    for target in Target::value_variants().iter().filter(is_chosen) {
        let command = fuzz.command(workspace, workspace.command(&cargo_fuzz), *target);
        report.add(timed(target.name(), || target.run(workspace, command?)));
    }
    Ok(report)
}

impl Fuzz {
    fn command(
        &self,
        workspace: &Workspace,
        mut cargo_fuzz: Command,
        target: Target,
    ) -> anyhow::Result<Command> {
        let name = target.name();
        fs::create_dir_all(target.directory(workspace, "corpus"))?;
        let (sanitizer, build) =
            if self.sanitize { ("address", "fuzz-asan") } else { ("none", "fuzz") };
        if self.sanitize {
            // Every toolchain has the sanitizers, but only unstable flags enable them.
            cargo_fuzz.env("RUSTC_BOOTSTRAP", "1");
        }
        cargo_fuzz.args(["fuzz", "run", "--fuzz-dir=fuzz", "--sanitizer", sanitizer]);
        cargo_fuzz.arg("--target-dir").arg(workspace.target.join(build)).arg(name);
        // New inputs are written to the first directory; the second has the shared seeds.
        cargo_fuzz.args([format!("fuzz/corpus/{name}"), target.seeds()]);
        cargo_fuzz.args(["--", "-dict=fuzz/responses.dict", "-verbosity=0", "-print_funcs=0"]);
        cargo_fuzz.args(["-timeout=10", "-rss_limit_mb=1024"]);
        cargo_fuzz.arg(format!("-max_len={}", target.longest_input()));
        cargo_fuzz.arg(format!("-max_total_time={}", self.seconds));
        Ok(cargo_fuzz)
    }
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Reconcile => "reconcile",
            Self::Repair => "repair",
            Self::Sse => "sse",
            Self::Assembler => "assembler",
            Self::Chat => "chat",
            Self::Anthropic => "anthropic",
            Self::AiSdk => "ai_sdk",
            Self::ChatRequest => "chat_request",
            Self::AnthropicRequest => "anthropic_request",
        }
    }

    /// The seed directory. Decoders use the streams of their golden tests.
    fn seeds(self) -> String {
        let golden = "crates/antiphon/tests/golden";
        match self {
            Self::Chat => format!("{golden}/chat"),
            Self::Anthropic => format!("{golden}/anthropic"),
            Self::AiSdk => format!("{golden}/ai-sdk"),
            other => format!("fuzz/corpus-seeds/{}", other.name()),
        }
    }

    /// The maximum input size in bytes: that of the seeds, because longer seeds would be truncated.
    fn longest_input(self) -> usize {
        match self {
            Self::Chat | Self::Anthropic | Self::AiSdk => 8192,
            _ => 1024,
        }
    }

    fn directory(self, workspace: &Workspace, what: &str) -> PathBuf {
        workspace.root.join("fuzz").join(what).join(self.name())
    }

    fn run(self, workspace: &Workspace, command: Command) -> anyhow::Result<Tally> {
        let tally = execute(command, Counts::None)?;
        if tally.failed > 0 {
            self.name_reproducers(workspace)?;
        }
        Ok(tally)
    }

    fn name_reproducers(self, workspace: &Workspace) -> anyhow::Result<()> {
        let directory = self.directory(workspace, "artifacts");
        if !directory.exists() {
            return Ok(());
        }
        for artifact in fs::read_dir(directory)? {
            println!("reproducer: {}", artifact?.path().display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_names_equal_program_names() {
        let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/fuzz_targets");
        let mut programs: Vec<String> = fs::read_dir(programs)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        programs.sort();
        let mut names: Vec<&str> =
            Target::value_variants().iter().map(|target| target.name()).collect();
        names.sort_unstable();
        assert_eq!(names, programs);
    }
}
