//! What was found, a line each.

use antiphon::faults::{Fault, Refusal};
use antiphon::json::quote;
use antiphon::repair::{Action, Finding};
use serde::Serialize;

use super::document::Document;
use crate::failure::Failure;

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

/// What one line tells.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// The number of the history's line, where every line is a history.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Null for an item that the server holds.
    position: Option<usize>,
    id: Option<String>,
    fault: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    /// The provider's words, or ours where it says nothing.
    message: String,
    code: Option<&'static str>,
    param: Option<String>,
}

impl Form {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            None | Some("text") => Ok(Self::Text),
            Some("json") => Ok(Self::Json),
            Some(other) => {
                Err(Failure::usage(format!("--report: '{other}' is neither 'text' nor 'json'")))
            }
        }
    }

    /// The line, without its end.
    pub(super) fn line(self, row: &Row) -> String {
        match self {
            Self::Text => row.text(),
            Self::Json => serde_json::to_string(row).expect("a row is texts and numbers"),
        }
    }
}

impl Row {
    /// What is wrong, and nothing was done about.
    pub(super) fn of_fault(history: &Document, finding: &Finding) -> Self {
        let position = finding.position.map(|position| history.position(position));
        let refusal = match &finding.fault {
            Some(fault) => fault.refusal(position.unwrap_or_default()),
            None => stored_twice(),
        };
        Self {
            line: history.line,
            position,
            id: finding.id.as_ref().map(ToString::to_string),
            fault: finding.fault.as_ref().map_or("resent_item", Fault::name),
            action: None,
            message: refusal.message,
            code: refusal.code,
            param: refusal.param,
        }
    }

    /// What was mended.
    pub(super) fn of_mend(history: &Document, finding: &Finding) -> Self {
        let action = finding.action.map(Action::name);
        Self { action, ..Self::of_fault(history, finding) }
    }

    fn text(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!("{line}:"));
        let position = self.position.map_or_else(|| "-".to_owned(), |at| at.to_string());
        let id = self.id.as_deref().map_or_else(|| "-".to_owned(), one_word);
        let action = self.action.map_or_else(String::new, |action| format!(" {action}"));
        let message = one_line(&self.message);
        format!("{line}{position} {id} {}{action} {message}", self.fault)
    }
}

/// A provider that holds an item which it cannot know again stores it once more.
fn stored_twice() -> Refusal {
    let message = "The server holds this item already and would hold it twice.".to_owned();
    Refusal { status: 200, code: None, param: None, message }
}

/// Ids are as clients made them up.
fn one_word(id: &str) -> String {
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if id.contains(is_odd) { quote(id) } else { id.to_owned() }
}

fn one_line(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}
