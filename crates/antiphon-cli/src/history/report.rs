//! The report: one line per finding.

use antiphon::json::quote;
use antiphon::repair;
use antiphon_surface::Finding;
use serde::Serialize;

use super::document::Document;
use crate::failure::Failure;
use crate::one_line::one_line;

/// The format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportFormat {
    Text,
    Json,
}

/// The content of one line.
#[derive(Debug, Serialize)]
pub(super) struct ReportRow {
    /// The line number of the history, if every line is a history.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(flatten)]
    found: Finding,
}

impl ReportFormat {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            None | Some("text") => Ok(Self::Text),
            Some("json") => Ok(Self::Json),
            Some(other) => {
                Err(Failure::usage(format!("--report: '{other}' is neither 'text' nor 'json'")))
            }
        }
    }

    /// The line, without a line end.
    pub(super) fn line(self, row: &ReportRow) -> String {
        match self {
            Self::Text => row.text(),
            Self::Json => serde_json::to_string(row).expect("a row is texts and numbers"),
        }
    }
}

impl ReportRow {
    /// A fault that was found and not repaired.
    pub(super) fn from_fault(history: &Document, finding: &repair::Finding) -> Self {
        let Self { line, found } = Self::from_repair(history, finding);
        Self { line, found: Finding { action: None, ..found } }
    }

    /// A repair.
    pub(super) fn from_repair(history: &Document, finding: &repair::Finding) -> Self {
        let position = finding.position.and_then(|position| history.position(position));
        let found = if history.is_item_list() {
            Finding::at_position(position, finding)
        } else {
            // The provider's message counts the items, not the messages that they come from.
            Finding { position, ..Finding::from_repair(finding) }
        };
        Self { line: history.line, found }
    }

    fn text(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!("{line}:"));
        let Finding { position, id, fault, action, message, .. } = &self.found;
        let position = position.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let id = id.as_deref().map_or_else(|| "-".to_owned(), one_word);
        let action = action.map_or_else(String::new, |action| format!(" {action}"));
        let message = one_line(message);
        format!("{line}{position} {id} {fault}{action} {message}")
    }
}

/// Quotes an id that contains blanks or control characters: clients choose ids freely.
fn one_word(id: &str) -> String {
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if id.contains(is_odd) { quote(id) } else { id.to_owned() }
}
