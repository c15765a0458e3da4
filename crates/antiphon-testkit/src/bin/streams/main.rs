//! Measures the cost of streams that wait for their model: opens many at one gateway, advances and
//! ends them, and measures the gateway's memory between the steps.
//!
//! The gateway is a separate process; the upstream and the callers run in this one.

mod caller;
mod load;
mod report;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use self::load::Load;

const USAGE: &str = "usage: streams --antiphon PROGRAM --count STREAMS";

/// Each stream uses two file descriptors here, its caller's connection and its upstream's, and two
/// in the gateway. Everything else needs a few more.
const FILES_PER_STREAM: u64 = 2;
const FILES_RESERVED: u64 = 256;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (antiphon, count) = arguments(std::env::args().skip(1))?;
    raise_file_limit(count)?;
    let report = Load::start(&antiphon, count).await?.run().await?;
    println!("{report}");
    Ok(if report.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn arguments(arguments: impl Iterator<Item = String>) -> Result<(PathBuf, usize), Box<dyn Error>> {
    let arguments: Vec<String> = arguments.collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--antiphon", program, "--count", count] => Ok((program.into(), count.parse()?)),
        _ => Err(USAGE.into()),
    }
}

/// Raises the limit of open files. The gateway inherits it.
fn raise_file_limit(count: usize) -> Result<(), Box<dyn Error>> {
    let wanted = FILES_PER_STREAM * count as u64 + FILES_RESERVED;
    let limit = rlimit::increase_nofile_limit(wanted)?;
    if limit < wanted {
        return Err(
            format!("{count} streams need {wanted} open files, the limit is {limit}").into()
        );
    }
    Ok(())
}
