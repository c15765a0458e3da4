//! `antiphon repair`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon::Transcript;
use antiphon::repair::{Finding, Policy, Refused, RepairedInput, filter_orphaned_reasoning};
use antiphon_surface::CHOICES;
use antiphon_surface::history::continuation;

use super::document::Document;
use super::input::{self, Input};
use super::notice::Notices;
use super::report::{ReportFormat, ReportRow};
use crate::args::RepairArgs;
use crate::failure::Failure;

/// Writes every repaired history to standard output, and each repair to standard error.
pub(crate) fn repair(args: &RepairArgs) -> Result<ExitCode, Failure> {
    let format = ReportFormat::parse(args.history.report.as_deref())?;
    let method = RepairMethod::parse(args.policy.as_deref())?;
    if matches!(method, RepairMethod::OrphanedReasoning) && args.history.held.is_some() {
        return Err(Failure::usage(
            "--policy orphaned-reasoning leaves out nothing that a server holds; give it without \
             --held",
        ));
    }
    let transcript = input::read_held(args.history.held.as_deref())?;
    let mut input = Input::open(&args.history)?;
    let mut out = io::stdout().lock();
    let mut notices = Notices::for_repair(format);
    while let Some(history) = input.next()? {
        notices.print(input.name(), &history);
        let repaired = repair_history(&history, transcript.as_ref(), &method);
        let repaired = repaired.map_err(|refused| policy_failure(&history, &refused))?;
        out.write_all(&history.with_items(&repaired.items))
            .and_then(|()| out.flush())
            .map_err(|error| Failure::output(&error))?;
        for finding in &repaired.findings {
            // Ignore a failed write: the repaired history matters more than the report.
            let _ = writeln!(
                io::stderr(),
                "{}",
                format.line(&ReportRow::from_repair(&history, finding))
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn repair_history(
    history: &Document,
    transcript: Option<&Transcript>,
    method: &RepairMethod,
) -> Result<RepairedInput, Refused> {
    let items = &history.items;
    match method {
        RepairMethod::OrphanedReasoning => Ok(continuation(filter_orphaned_reasoning(items))),
        RepairMethod::Policy(policy) => {
            antiphon_surface::history::repair(items, history.held_before(transcript), policy)
        }
    }
}

fn policy_failure(history: &Document, refused: &Refused) -> Failure {
    let Refused { position, id, fault } = refused.clone();
    let finding = Finding { position, id, fault: Some(fault), action: None, is_by_policy: false };
    Failure::refused(ReportFormat::Text.line(&ReportRow::from_fault(history, &finding)))
}

/// The value of `--policy`.
#[derive(Debug, PartialEq)]
enum RepairMethod {
    Policy(Policy),
    /// Drop orphaned reasoning and touch nothing else.
    OrphanedReasoning,
}

impl RepairMethod {
    fn parse(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            Some("orphaned-reasoning") => Ok(Self::OrphanedReasoning),
            Some("") => Err(unknown_policy("")),
            words => {
                let policy = antiphon_surface::policy(words.unwrap_or("repair"));
                policy.map(Self::Policy).map_err(|error| unknown_policy(&error.word))
            }
        }
    }
}

fn unknown_policy(word: &str) -> Failure {
    Failure::usage(format!(
        "--policy: '{word}' is unknown; the policies are repair, drop, reject, orphaned-reasoning, \
         or of {CHOICES} those that differ, separated by commas"
    ))
}
