//! `antiphon check`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use super::input::Input;
use super::notice::Notices;
use super::report::{Form, Row};
use super::{held, unwritable};
use crate::args::HistoryArgs;
use crate::failure::Failure;

/// Prints the faults of every history on standard output.
pub(crate) fn check(args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let form = Form::parse(args.report.as_deref())?;
    let transcript = held::read(args.held.as_deref())?;
    let mut input = Input::open(args)?;
    let mut out = io::stdout().lock();
    let mut notices = Notices::of_reading();
    let mut is_sound = true;
    while let Some(history) = input.next()? {
        notices.tell(input.name(), &history);
        let held = held::before(&history, transcript.as_ref());
        for finding in antiphon_surface::history::check(&history.items, held) {
            is_sound = false;
            let row = Row::of_fault(&history, &finding);
            writeln!(out, "{}", form.line(&row)).map_err(|error| unwritable(&error))?;
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
