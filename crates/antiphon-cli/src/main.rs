//! The `antiphon` command.
//!
//! A usage error prints a message on standard error and ends with exit code 2; a runtime failure
//! ends with exit code 1. If nobody reads standard output, the command ends without a message.
//! Standard output carries only the result of the command:
//!
//! - `serve` and `mock`: a readiness line.
//! - `check`: the findings; the exit code is 1 if there are any.
//! - `repair`: the repaired histories.
//! - `doctor`: the findings; the exit code is 1 if a check failed.
//! - `health`: nothing; the exit code is 1 if the gateway is not ready.
//! - `init`: the name of the file that it wrote, and the next steps.
//! - `explain`: the page.
//! - `convert`: the events.
//! - `conformance`: the rules and the answers; the exit code is 1 if any answer differs.
//! - `tenants` and `export`: JSON lines.
//! - `inspect`: conversations, as text or JSON.
//! - `import`: the report.
//! - `run`: the output and the exit code of the agent.
//! - `completions` and `man`: the script, and the page.
//! - `erase`: a summary of the erased data.

mod args;
mod completions;
mod conformance;
mod convert;
mod doctor;
mod explain;
mod failure;
mod gateway_url;
mod greeting;
mod hash_key;
mod health;
mod history;
mod init;
mod inspect;
mod logging;
mod man;
mod mock;
mod one_line;
mod platform;
mod preflight;
mod run;
mod serve;
mod settings;
mod signals;
mod state_owners;
mod tenants;

use std::io::{self, Write as _};
use std::process::ExitCode;

use args::Command;
use failure::Failure;
use logging::LogFormat;
use settings::ServeArgs;

/// Returns freed memory to the system after a few seconds. The system's allocator keeps most of the
/// memory of long answers: see docs/measurements.md.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(failure) => {
            if failure != Failure::Unread {
                // Ignore a failed write: the exit code carries the same result.
                let _ = writeln!(io::stderr(), "error: {failure}");
            }
            failure.exit_code()
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    match args::parse()? {
        Command::Serve(args) => {
            let environment = settings::environment;
            let format = logging::install(environment)?;
            match serve(*args, format) {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(failure) => {
                    logging::print_failure(&failure, format);
                    Ok(failure.exit_code())
                }
            }
        }
        Command::Doctor(args) => doctor::doctor(*args),
        Command::Health(args) => health::health(args),
        Command::Init(args) => init::init(&args),
        Command::HashKey => hash_key::hash_key(),
        Command::Check(args) => history::check(&args),
        Command::Repair(args) => history::repair(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Convert(args) => convert::convert(&args),
        Command::Tenants(args) => tenants::list(args),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Export(args) => tenants::export(args),
        Command::Import(args) => tenants::import(args),
        Command::Erase(args) => tenants::erase(args),
        Command::Conformance(args) => conformance::conformance(args),
        Command::Mock(args) => mock::mock(&args),
        Command::Run(args) => run::run(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => man::man(&args),
        Command::Sim(args) => mock::mock(&args.into()),
    }
}

fn serve(args: ServeArgs, format: LogFormat) -> Result<(), Failure> {
    let variables = settings::variable_names();
    let is_check = args.check;
    let configuration = settings::resolve(args.settings, settings::environment, &variables)?;
    match is_check {
        true => preflight::check(&configuration),
        false => serve::serve(configuration, format),
    }
}
