//! `antiphon check`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon::Transcript;
use antiphon::repair::{self, Finding, check_held};

use super::document::Document;
use super::input::Input;
use super::report::{Form, Row};
use super::{held, unwritable};
use crate::args::HistoryArgs;
use crate::failure::Failure;

/// Tells on standard output what is wrong with every history.
pub(crate) fn check(args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let form = Form::parse(args.report.as_deref())?;
    let transcript = held::read(args.held.as_deref())?;
    let mut input = Input::open(args)?;
    let mut out = io::stdout().lock();
    let mut is_sound = true;
    while let Some(history) = input.next()? {
        for finding in findings(&history, transcript.as_ref()) {
            is_sound = false;
            let row = Row::of_fault(&history, &finding);
            writeln!(out, "{}", form.line(&row)).map_err(|error| unwritable(&error))?;
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn findings(history: &Document, transcript: Option<&Transcript>) -> Vec<Finding> {
    if let Some(held) = held::before(history, transcript) {
        return check_held(held, &history.items);
    }
    let found = |(position, fault)| Finding {
        position: Some(position),
        id: history.items[position].head().id.clone(),
        fault: Some(fault),
        action: None,
    };
    repair::check(&history.items).into_iter().map(found).collect()
}
