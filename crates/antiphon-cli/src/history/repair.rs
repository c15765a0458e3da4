//! `antiphon repair`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use antiphon::Transcript;
use antiphon::repair::{Finding, Refused, RepairedInput, filter_orphaned_reasoning};
use antiphon_surface::history::continuation;

use super::document::Document;
use super::input::Input;
use super::notice::Notices;
use super::policy::Way;
use super::report::{Form, Row};
use super::{held, unwritable};
use crate::args::RepairArgs;
use crate::failure::Failure;

/// Writes every repaired history to standard output, and each repair to standard error.
pub(crate) fn repair(args: &RepairArgs) -> Result<ExitCode, Failure> {
    let form = Form::parse(args.history.report.as_deref())?;
    let way = Way::parse(args.policy.as_deref())?;
    if matches!(way, Way::OrphanedReasoning) && args.history.held.is_some() {
        return Err(Failure::usage(
            "--policy orphaned-reasoning leaves out nothing that a server holds; give it without \
             --held",
        ));
    }
    let transcript = held::read(args.history.held.as_deref())?;
    let mut input = Input::open(&args.history)?;
    let mut out = io::stdout().lock();
    let mut notices = Notices::of_writing(form);
    while let Some(history) = input.next()? {
        notices.tell(input.name(), &history);
        let mended = mended(&history, transcript.as_ref(), &way);
        let mended = mended.map_err(|refused| refusal(&history, &refused))?;
        out.write_all(&history.with(&mended.items))
            .and_then(|()| out.flush())
            .map_err(|error| unwritable(&error))?;
        for finding in &mended.findings {
            // Ignore a failed write: the repaired history matters more than the report.
            let _ = writeln!(io::stderr(), "{}", form.line(&Row::of_mend(&history, finding)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn mended(
    history: &Document,
    transcript: Option<&Transcript>,
    way: &Way,
) -> Result<RepairedInput, Refused> {
    let items = &history.items;
    match way {
        Way::OrphanedReasoning => Ok(continuation(filter_orphaned_reasoning(items))),
        Way::Policy(policy) => {
            antiphon_surface::history::repair(items, held::before(history, transcript), policy)
        }
    }
}

fn refusal(history: &Document, refused: &Refused) -> Failure {
    let Refused { position, id, fault } = refused.clone();
    let finding = Finding { position, id, fault: Some(fault), action: None };
    Failure::refused(Form::Text.line(&Row::of_fault(history, &finding)))
}
