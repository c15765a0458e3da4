//! Notices on standard error about the form of a history.

use std::io::{self, Write as _};

use antiphon::import::{HistoryForm, OmittedPart};
use serde::Serialize;

use super::document::Document;
use super::report::Form;

/// Prints the form of each history that does not consist of items, once until the form changes.
pub(super) struct Notices {
    report: Form,
    writes: bool,
    last: HistoryForm,
}

/// The notice about the form, as JSON.
#[derive(Serialize)]
struct ReadAs {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    read_as: &'static str,
    written_as: &'static str,
}

/// The notice about an omitted part, as JSON.
#[derive(Serialize)]
struct LeftOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    position: usize,
    left_out: &'a str,
}

impl Notices {
    /// Notices of a command that writes only its findings.
    pub(super) fn of_reading() -> Self {
        Self { report: Form::Text, writes: false, last: HistoryForm::Responses }
    }

    /// Notices of a command that writes histories and reports in the given format on standard
    /// error.
    pub(super) fn of_writing(report: Form) -> Self {
        Self { report, writes: true, ..Self::of_reading() }
    }

    /// Prints the form of a history, and its parts that the output omits.
    pub(super) fn tell(&mut self, name: &str, history: &Document) {
        if history.form != self.last {
            self.last = history.form;
            self.tell_form(name, history);
        }
        if self.writes {
            history.omissions.iter().for_each(|omission| self.tell_omission(history, omission));
        }
    }

    fn tell_form(&self, name: &str, history: &Document) {
        let form = history.form;
        let place = history.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
        let written = if self.writes && !history.is_of_items() {
            format!(", written as {}", HistoryForm::Responses)
        } else {
            String::new()
        };
        match self.report {
            Form::Text => say(&format!("note: {place}: read as {form}{written}")),
            Form::Json => {
                let written_as = HistoryForm::Responses.name();
                say_json(&ReadAs { line: history.line, read_as: form.name(), written_as });
            }
        }
    }

    fn tell_omission(&self, history: &Document, omission: &OmittedPart) {
        let OmittedPart { position, kind } = omission;
        match self.report {
            Form::Text => {
                let line = history.line.map_or_else(String::new, |line| format!("line {line}, "));
                say(&format!(
                    "note: {line}message {position}: its part of type '{kind}' is left out, since \
                     no item can hold it"
                ));
            }
            Form::Json => {
                say_json(&LeftOut { line: history.line, position: *position, left_out: kind });
            }
        }
    }
}

/// Writes a line and ignores a failed write.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn say_json(line: &impl Serialize) {
    say(&serde_json::to_string(line).expect("a notice is texts and numbers"));
}
