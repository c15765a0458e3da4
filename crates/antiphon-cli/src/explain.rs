//! `antiphon explain`: describes the faults of histories and the errors of providers.

use std::process::ExitCode;

use antiphon::faults::{PAGES, Page};
use antiphon_gateway::fault_pages;
use clap::Args;

use crate::failure::{Failure, print};

/// The arguments of `explain`.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Name of a fault, or the text of an error; without it, all faults are listed
    #[arg(value_name = "FAULT|TEXT", trailing_var_arg = true)]
    fault: Vec<String>,
}

/// Prints the page of a fault, or the list of all faults.
pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitCode, Failure> {
    let text = args.fault.join(" ");
    let printed = match text.trim() {
        "" => list(),
        text => find(text)?.to_owned(),
    };
    print(&printed)?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a fault, or of a repair of the gateway.
fn find(text: &str) -> Result<&'static str, Failure> {
    let of_fault = Page::recognize(text).map(|page| page.text);
    of_fault.or_else(|| fault_pages::find(text)).ok_or_else(|| {
        Failure::usage("no fault has this name or text; 'antiphon explain' lists all of them")
    })
}

/// A line for each fault: its name, and the error of the provider.
fn list() -> String {
    let width = PAGES.iter().map(|page| page.name.len()).max().unwrap_or_default();
    let lines = PAGES.iter().map(|page| format!("{:width$}  {}\n", page.name, page.error()));
    lines.collect()
}
