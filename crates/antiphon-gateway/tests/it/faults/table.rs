//! The outcomes as a table.

use std::fmt::Write;

use antiphon::dialect::UpstreamApi;

use super::outcome::Observed;
use crate::support::Mode;

/// A row of the table, of one API.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    fault: &'static str,
    api: UpstreamApi,
    streamed: Option<String>,
    whole: Option<String>,
    /// The sentences of the errors.
    messages: Vec<String>,
    holds: Option<&'static str>,
    /// Whether a second request heals it; `None` where there is nothing to heal.
    pub(super) asked_again: Option<bool>,
}

impl Cells {
    pub(super) fn new(fault: &'static str, api: UpstreamApi) -> Self {
        Self {
            fault,
            api,
            streamed: None,
            whole: None,
            messages: Vec::new(),
            holds: None,
            asked_again: None,
        }
    }

    /// What a caller was told, and what was held then. It is the same wherever the turn belongs.
    pub(super) fn receive(&mut self, mode: Mode, received: &Observed, holds: Option<&'static str>) {
        let cell = if mode == Mode::Streamed { &mut self.streamed } else { &mut self.whole };
        let known = cell.get_or_insert_with(|| received.end.clone());
        assert_eq!(*known, received.end, "{} {}", self.fault, self.api);
        self.messages.extend(received.message.clone());
        self.messages.dedup();
        if let Some(holds) = holds {
            assert!(self.holds.is_none_or(|known| known == holds), "{} {}", self.fault, self.api);
            self.holds = Some(holds);
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        *self == Self { api: self.api, ..other.clone() }
    }
}

/// The rows, those of APIs that come to the same as one.
pub(super) fn table(cells: &[Cells]) -> String {
    let mut text = String::from(HEAD);
    let mut rest = cells.to_vec();
    while !rest.is_empty() {
        let first = rest[0].clone();
        let (alike, others) = rest.into_iter().partition::<Vec<_>, _>(|row| first.is_like(row));
        rest = others;
        row(&mut text, &first, &apis(&alike));
    }
    text
}

const HEAD: &str = "\
| the upstream | API | streamed answer | other answer | message | the conversation holds | on a \
retry |
|---|---|---|---|---|---|---|
";

fn apis(alike: &[Cells]) -> String {
    let names: Vec<&str> = alike.iter().map(|cells| cells.api.name()).collect();
    if names.len() == super::APIS.len() { "any".to_owned() } else { names.join(", ") }
}

fn row(text: &mut String, cells: &Cells, apis: &str) {
    let end = |cell: &Option<String>| cell.clone().expect("the caller was told");
    let again = match cells.asked_again {
        Some(true) => "answers",
        Some(false) => "is not asked again",
        None => "",
    };
    writeln!(
        text,
        "| {} | {apis} | {} | {} | {} | {} | {again} |",
        cells.fault,
        end(&cells.streamed),
        end(&cells.whole),
        cells.messages.join(" / "),
        cells.holds.expect("a conversation was looked at"),
    )
    .expect("writing to a string does not fail");
}
