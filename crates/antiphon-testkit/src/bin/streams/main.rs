//! What streams cost that wait for their model: opens many at one gateway, lets each go on and then
//! end, and measures the gateway's memory between.
//!
//! The gateway is a process of its own; upstream and callers are in this one.

mod caller;
mod load;
mod report;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use self::load::Load;

const USAGE: &str = "usage: streams --antiphon PROGRAM --count STREAMS";

/// Each stream takes two files here, its caller's connection and its upstream's, and two in the
/// gateway. Some are needed for all else.
const FILES_A_STREAM: u64 = 2;
const FILES_BESIDE: u64 = 256;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (antiphon, count) = arguments(std::env::args().skip(1))?;
    make_room_for(count)?;
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

/// What this process may have open, the gateway may too: limits are inherited.
fn make_room_for(count: usize) -> Result<(), Box<dyn Error>> {
    let wanted = FILES_A_STREAM * count as u64 + FILES_BESIDE;
    let given = rlimit::increase_nofile_limit(wanted)?;
    if given < wanted {
        return Err(format!("{count} streams need {wanted} open files; {given} are allowed").into());
    }
    Ok(())
}
