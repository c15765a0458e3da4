//! `antiphon completions`.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::args::{CompletionsArgs, command_line};
use crate::failure::Failure;

/// Prints the script for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "antiphon", &mut script);
    let written = io::stdout().lock().write_all(&script);
    written.map_err(|error| Failure::output(&error))?;
    Ok(ExitCode::SUCCESS)
}
