//! The instructions of one turn of the gateway, against stored bounds. A slower turn fails here on
//! any machine under any load, because no clock is read.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::Value;

use crate::report::Report;
use crate::run::timed;
use crate::tally::Tally;
use crate::tools::has_valgrind;
use crate::workspace::Workspace;

/// Whether to compare or to write the counts.
#[derive(Args)]
pub(crate) struct Instructions {
    /// Store the counts of this build as the new ones
    #[arg(long)]
    write: bool,
}

/// The forms of a turn: answered as JSON, and as a stream of 60 deltas; and as JSON with an
/// exporter of traces, of which none or all are sampled.
const FORMS: [Form; 4] = [
    Form { name: "json", arguments: ["json", ""] },
    Form { name: "stream", arguments: ["stream", ""] },
    Form { name: UNSAMPLED, arguments: ["json", "0"] },
    Form { name: SAMPLED, arguments: ["json", "1"] },
];
const UNSAMPLED: &str = "json-unsampled";
const SAMPLED: &str = "json-sampled";
/// The share of the traces of a busy gateway, in percent.
const SHARE: u64 = 1;
const STORED: &str = "crates/antiphon-gateway/benches/turn/instructions.txt";
/// A turn may cost so many percent more than stored.
const MARGIN: u64 = 5;
/// The numbers of turns of two runs. Their difference leaves out the start and the first turns.
const FEW: u64 = 10;
const MANY: u64 = 60;

/// A form of a turn.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    /// The arguments of the benchmark: the form of the answer and the ratio of the sampler.
    arguments: [&'static str; 2],
}

/// Counts, and compares or writes.
pub(crate) fn run(workspace: &Workspace, instructions: &Instructions) -> Report {
    let mut report = Report::default();
    report.add(timed("instructions", || match instructions.write {
        true => write(workspace),
        false => check(workspace),
    }));
    report
}

/// Fails if a turn executes more instructions than its bound. Passes without a count if valgrind is
/// absent, or if the processor is not the one of the stored counts.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Tally> {
    if !has_valgrind(workspace) {
        println!("skipped: valgrind is not installed");
        return Ok(Tally::one(true));
    }
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        println!("skipped: the stored counts are of Linux on x86-64");
        return Ok(Tally::one(true));
    }
    let stored = fs::read_to_string(workspace.root.join(STORED)).context(STORED)?;
    let stored = parse(&stored)?;
    let mut tally = Tally::default();
    let counts = count(workspace)?;
    tally += Tally::one(traces_cost_little(&counts)?);
    for (form, count) in counts {
        let (_, stored) = stored.iter().find(|(name, _)| *name == form).context("not stored")?;
        let verdict = Verdict::of(count, *stored);
        println!("{form}: {count} instructions a turn, stored {stored}: {}", verdict.text());
        tally += Tally::one(verdict != Verdict::Slower);
    }
    Ok(tally)
}

/// Whether a turn costs at most [`MARGIN`] percent more with traces of which 1 % are sampled.
fn traces_cost_little(counts: &[(&str, u64)]) -> anyhow::Result<bool> {
    let count = |name| counts.iter().find(|(form, _)| *form == name).map(|(_, count)| *count);
    let count = |name| count(name).context("a form is not counted");
    let (without, unsampled, sampled) = (count("json")?, count(UNSAMPLED)?, count(SAMPLED)?);
    let with = (unsampled * (100 - SHARE) + sampled * SHARE) / 100;
    println!(
        "json: {with} instructions a turn with {SHARE} % of the traces, {without} without any"
    );
    Ok(Verdict::of(with, without) != Verdict::Slower)
}

fn write(workspace: &Workspace) -> anyhow::Result<Tally> {
    ensure!(has_valgrind(workspace), "valgrind is not installed");
    let mut text = String::new();
    for (form, count) in count(workspace)? {
        writeln!(text, "{form} {count}")?;
    }
    print!("{text}");
    fs::write(workspace.root.join(STORED), text)?;
    Ok(Tally::one(true))
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Slower,
    Same,
    Faster,
}

impl Verdict {
    fn of(count: u64, stored: u64) -> Self {
        match count * 100 {
            it if it > stored * (100 + MARGIN) => Self::Slower,
            it if it < stored * (100 - MARGIN) => Self::Faster,
            _ => Self::Same,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Slower => {
                "too many; if the cost is intended, run `cargo xtask instructions --write`"
            }
            Self::Same => "within the margin",
            Self::Faster => "fewer; run `cargo xtask instructions --write` to keep the gain",
        }
    }
}

/// The instructions of one turn of each form. All runs share the processors.
fn count(workspace: &Workspace) -> anyhow::Result<Vec<(&'static str, u64)>> {
    let program = &build(workspace)?;
    thread::scope(|scope| {
        let runs = FORMS.map(|form| {
            let count = |turns| scope.spawn(move || executed(workspace, program, form, turns));
            (form.name, count(FEW), count(MANY))
        });
        let counts = runs.into_iter().map(|(form, few, many)| {
            let few = few.join().expect("it does not panic")?;
            let many = many.join().expect("it does not panic")?;
            Ok((form, many.saturating_sub(few) / (MANY - FEW)))
        });
        counts.collect()
    })
}

/// Builds the benchmark in the profile of the tests and with the features of the whole workspace.
/// So it uses the libraries that were built for the tests.
fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let mut build = workspace.cargo(&["build", "--quiet", "--workspace", "--bench=turn"]);
    build.arg("--message-format=json").stderr(Stdio::inherit());
    let output = build.output().context("could not run cargo")?;
    ensure!(output.status.success(), "the benchmark does not build");
    let messages = String::from_utf8(output.stdout)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut turns = messages.filter(|message| message["target"]["name"] == "turn");
    let path = turns.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.context("cargo names no executable")
}

/// The instructions of a run with so many turns.
fn executed(workspace: &Workspace, program: &Path, form: Form, turns: u64) -> anyhow::Result<u64> {
    let mut valgrind = workspace.command("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let [answer, ratio] = form.arguments;
    valgrind.arg(program).args([answer, &turns.to_string()]);
    let output = valgrind.args((!ratio.is_empty()).then_some(ratio)).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{text}");
    instructions_in(&text).with_context(|| format!("valgrind counted nothing: {text}"))
}

/// The count in cachegrind's line `==1== I   refs:      1,234`. Newer versions write `I refs:`.
fn instructions_in(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("== I") && line.contains("refs:"))?;
    let digits = line.rsplit(':').next()?.chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().ok()
}

/// Lines of a form and its count.
fn parse(text: &str) -> anyhow::Result<Vec<(&str, u64)>> {
    let parsed = text.lines().map(|line| {
        let (form, count) = line.split_once(' ').context("a line has no count")?;
        Ok((form, count.parse()?))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_in_the_line_of_references() {
        for text in ["==7== I   refs:      1,331,615,990", "==7== I refs:        1,331,615,990"] {
            let text = format!("==7== Cachegrind, a tool\n{text}\n==7==");
            assert_eq!(instructions_in(&text), Some(1_331_615_990));
        }
        assert_eq!(instructions_in("==7== Cachegrind"), None);
    }

    #[test]
    fn margin_is_five_percent_in_both_directions() {
        assert_eq!(Verdict::of(1_051, 1_000), Verdict::Slower);
        assert_eq!(Verdict::of(1_050, 1_000), Verdict::Same);
        assert_eq!(Verdict::of(950, 1_000), Verdict::Same);
        assert_eq!(Verdict::of(949, 1_000), Verdict::Faster);
    }

    #[test]
    fn sampled_traces_count_by_their_share() {
        let counts = |sampled| [("json", 1_000), (UNSAMPLED, 1_000), (SAMPLED, sampled)];
        assert!(traces_cost_little(&counts(6_000)).unwrap());
        assert!(!traces_cost_little(&counts(6_200)).unwrap());
        assert!(traces_cost_little(&[("json", 1_000)]).is_err());
    }

    #[test]
    fn stored_counts_have_a_line_for_each_form() {
        let stored = include_str!("../../crates/antiphon-gateway/benches/turn/instructions.txt");
        let forms: Vec<&str> = parse(stored).unwrap().into_iter().map(|(form, _)| form).collect();
        assert_eq!(forms, FORMS.map(|form| form.name));
    }
}
