//! Measures a gateway's memory under hostile loads: long items, long histories, long answers, and
//! callers that do not read.
//!
//! The gateway is a separate process; the upstream and the callers run in this one.

mod answers;
mod caller;
mod history;
mod report;
mod upstream;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use self::report::Report;

const USAGE: &str = "usage: memory --antiphon PROGRAM";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let antiphon = arguments(std::env::args().skip(1))?;
    let mut report = Report::default();
    history::measure(&antiphon, &mut report).await?;
    for load in answers::LOADS {
        answers::measure(&antiphon, load, &mut report).await?;
    }
    println!("{report}");
    Ok(if report.is_within_bound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn arguments(arguments: impl Iterator<Item = String>) -> Result<PathBuf, Box<dyn Error>> {
    let arguments: Vec<String> = arguments.collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--antiphon", program] => Ok(program.into()),
        _ => Err(USAGE.into()),
    }
}
