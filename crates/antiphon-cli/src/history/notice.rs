//! Notices on standard error about the form of a history.

use std::io::{self, Write as _};

use antiphon::import::{HistoryForm, OmittedPart};
use serde::Serialize;

use super::document::Document;
use super::report::ReportFormat;

/// Prints the form of each history that does not consist of items, once until the form changes.
pub(super) struct Notices {
    report: ReportFormat,
    writes: bool,
    last: HistoryForm,
}

/// The notice about the form, as JSON.
#[derive(Serialize)]
struct FormNotice {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    read_as: &'static str,
    written_as: &'static str,
}

/// The notice about an omitted part, as JSON.
#[derive(Serialize)]
struct OmissionNotice<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    position: usize,
    left_out: &'a str,
}

impl Notices {
    /// Notices of a command that writes only its findings.
    pub(super) fn for_check() -> Self {
        Self { report: ReportFormat::Text, writes: false, last: HistoryForm::Responses }
    }

    /// Notices of a command that writes histories and reports in the given format on standard
    /// error.
    pub(super) fn for_repair(report: ReportFormat) -> Self {
        Self { report, writes: true, ..Self::for_check() }
    }

    /// Prints the form of a history, and its parts that the output omits.
    pub(super) fn print(&mut self, name: &str, history: &Document) {
        if history.form != self.last {
            self.last = history.form;
            self.print_form(name, history);
        }
        if self.writes {
            history.omissions.iter().for_each(|omission| self.print_omission(history, omission));
        }
    }

    fn print_form(&self, name: &str, history: &Document) {
        let form = history.form;
        let place = history.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
        let written = if self.writes && !history.is_item_list() {
            format!(", written as {}", HistoryForm::Responses)
        } else {
            String::new()
        };
        match self.report {
            ReportFormat::Text => print_line(&format!("note: {place}: read as {form}{written}")),
            ReportFormat::Json => {
                let written_as = HistoryForm::Responses.name();
                print_json(&FormNotice { line: history.line, read_as: form.name(), written_as });
            }
        }
    }

    fn print_omission(&self, history: &Document, omission: &OmittedPart) {
        let OmittedPart { position, kind } = omission;
        match self.report {
            ReportFormat::Text => {
                let line = history.line.map_or_else(String::new, |line| format!("line {line}, "));
                print_line(&format!(
                    "note: {line}message {position}: its part of type '{kind}' is left out, since \
                     no item can hold it"
                ));
            }
            ReportFormat::Json => {
                print_json(&OmissionNotice {
                    line: history.line,
                    position: *position,
                    left_out: kind,
                });
            }
        }
    }
}

/// Writes a line and ignores a failed write.
fn print_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn print_json(line: &impl Serialize) {
    print_line(&serde_json::to_string(line).expect("a notice is texts and numbers"));
}
