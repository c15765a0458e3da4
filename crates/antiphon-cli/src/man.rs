//! `antiphon man`.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap_mangen::Man;

use crate::args::{ManArgs, command_line};
use crate::failure::Failure;

/// Prints the page of the command, or writes the pages of all commands to a directory.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let written = args.dir.as_deref().map_or_else(print, write_all);
    written.map_err(|error| match &args.dir {
        Some(dir) => Failure::runtime(format!("{} cannot be written: {error}", dir.display())),
        None => Failure::output(&error),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn print() -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command_line()).render(&mut page)?;
    io::stdout().lock().write_all(&page)
}

fn write_all(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(command_line(), dir)
}
