//! `antiphon init`: writes a settings file.

mod answers;
mod args;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use answers::{Answers, UPSTREAM_KEY};
pub(crate) use args::InitArgs;

use crate::failure::Failure;
use crate::{platform, settings};

/// Writes the file. Asks on standard error, so that standard output has only the result.
pub(crate) fn init(args: &InitArgs) -> Result<ExitCode, Failure> {
    if !args.force && args.file.exists() {
        return Err(exists(&args.file));
    }
    let answers = match args.yes {
        true => Answers::defaults(),
        false => Answers::ask(&mut io::stdin().lock(), &mut io::stderr().lock())?,
    };
    answers.check()?;
    write(&args.file, &settings::template(&answers.chosen), args.force)?;
    print_result(&args.file, &answers)?;
    Ok(ExitCode::SUCCESS)
}

fn exists(file: &Path) -> Failure {
    Failure::runtime(format!("{} exists; give --force to replace it", file.display()))
}

fn write(file: &Path, text: &str, replaces: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create(replaces).truncate(replaces).create_new(!replaces);
    let written = platform::set_private(&mut options)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(file),
        _ => Failure::runtime(format!("{} cannot be written: {error}", file.display())),
    })
}

fn print_result(file: &Path, answers: &Answers) -> Result<(), Failure> {
    let config = match file == Path::new("antiphon.toml") {
        true => String::new(),
        false => format!(" --config {}", file.display()),
    };
    let mut lines = vec![format!("wrote {}", file.display())];
    if let Some(key) = &answers.key {
        lines.push(format!("API key for callers, shown only here: {key}"));
    }
    if answers.needs_upstream_key {
        lines.push(format!("before the start, set {UPSTREAM_KEY} to the key for the upstream"));
    }
    lines.push(format!("next: antiphon doctor{config}, then antiphon serve{config}"));
    let written = writeln!(io::stdout(), "{}", lines.join("\n"));
    written.map_err(|error| Failure::runtime(format!("the output cannot be written: {error}")))
}
