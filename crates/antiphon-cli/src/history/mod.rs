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
            writeln!(out, "{}", format.line(&row)).map_err(|error| write_failure(&error))?;
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn write_failure(error: &io::Error) -> Failure {
    Failure::runtime(format!("standard output cannot be written: {error}"))
}
