//! Histories from a file or from standard input, one at a time.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use antiphon::Transcript;

use super::document::{Document, TextSource};
use super::notice::Notices;
use crate::args::HistoryArgs;
use crate::failure::Failure;

/// The histories that a command reads.
pub(super) struct Input {
    reader: Box<dyn BufRead>,
    name: String,
    /// The number of the last line read; `None` if the whole input is one history.
    line: Option<usize>,
    is_at_end: bool,
}

impl Input {
    pub(super) fn open(args: &HistoryArgs) -> Result<Self, Failure> {
        let (name, reader): (_, Box<dyn BufRead>) = match named(args.file.as_deref()) {
            None => ("<stdin>".to_owned(), Box::new(io::stdin().lock())),
            Some(path) => {
                let name = path.display().to_string();
                let file = File::open(path).map_err(|error| read_failure(&name, &error))?;
                (name, Box::new(BufReader::new(file)))
            }
        };
        Ok(Self { reader, name, line: args.ndjson.then_some(0), is_at_end: false })
    }

    /// The name of the input, for error messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next history.
    pub(super) fn next(&mut self) -> Result<Option<Document>, Failure> {
        let Some(text) = self.read_text().map_err(|error| read_failure(&self.name, &error))? else {
            return Ok(None);
        };
        let source = TextSource { name: self.name.clone(), line: self.line };
        Document::parse(text, &source).map(Some)
    }

    /// Reads the text of the next history, with its line end. Skips empty lines.
    fn read_text(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        if let Some(line) = &mut self.line {
            while text.trim_ascii().is_empty() {
                text.clear();
                if self.reader.read_until(b'\n', &mut text)? == 0 {
                    return Ok(None);
                }
                *line += 1;
            }
        } else if std::mem::replace(&mut self.is_at_end, true) {
            return Ok(None);
        } else {
            self.reader.read_to_end(&mut text)?;
        }
        Ok(Some(text))
    }
}

/// Reads the items that the server holds from the file at `path`.
pub(super) fn read_held(path: Option<&Path>) -> Result<Option<Transcript>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let held = read(path)?;
    Notices::for_check().print(&path.display().to_string(), &held);
    Ok(Some(antiphon_surface::history::transcript(&held.items)))
}

/// Reads the single history in the file at `path`.
fn read(path: &Path) -> Result<Document, Failure> {
    let name = path.display().to_string();
    let text = fs::read(path).map_err(|error| read_failure(&name, &error))?;
    Document::parse(text, &TextSource { name, line: None })
}

/// The named file; `None` for standard input.
fn named(file: Option<&Path>) -> Option<&Path> {
    file.filter(|path| path.as_os_str() != "-")
}

fn read_failure(name: &str, error: &io::Error) -> Failure {
    Failure::usage(format!("{name} cannot be read: {error}"))
}
