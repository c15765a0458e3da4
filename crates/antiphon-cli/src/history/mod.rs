//! `antiphon check` and `antiphon repair`: histories in files.
//!
//! The `antiphon` crate finds and repairs the faults. This module reads the histories and reports
//! the findings.

mod document;
mod input;
mod notice;
mod repair;
mod report;

use std::io::{self, Write as _};
use std::process::ExitCode;

pub(crate) use repair::repair;

use crate::args::HistoryArgs;
use crate::failure::Failure;
use input::Input;
use notice::Notices;
use report::{ReportFormat, ReportRow};

/// Prints the faults of every history on standard output.
pub(crate) fn check(args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let format = ReportFormat::parse(args.report.as_deref())?;
    let transcript = input::read_held(args.held.as_deref())?;
    let mut input = Input::open(args)?;
    let mut out = io::stdout().lock();
    let mut notices = Notices::for_check();
    let mut is_sound = true;
    while let Some(history) = input.next()? {
        notices.print(input.name(), &history);
        let held = history.held_before(transcript.as_ref());
        for finding in antiphon_surface::history::check(&history.items, held) {
            is_sound = false;
            let row = ReportRow::from_fault(&history, &finding);
            if let Err(error) = writeln!(out, "{}", format.line(&row)) {
                return unless_unread(Failure::output(&error));
            }
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The exit code for a fault is 1, also if nobody reads the rest of the findings.
fn unless_unread(failure: Failure) -> Result<ExitCode, Failure> {
    if failure == Failure::Unread { Ok(ExitCode::from(1)) } else { Err(failure) }
}
