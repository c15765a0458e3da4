//! The parameters of the inspector's lists, and their cursors.

use std::str::FromStr;

use antiphon_store::{ConversationId, Recency};
use serde::{Deserialize, Serialize};

use super::model::{ConversationState, RefusedTurnView, Summary};

/// The number of entries on a page, if the caller names none.
const DEFAULT_LIMIT: usize = 20;
/// The maximum number of entries on a page.
const MAX_LIMIT: usize = 100;

/// The parameters of the list of conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    /// The cursor of a page; `None` for the first.
    pub after: Option<String>,
    /// The maximum number of conversations.
    pub limit: Option<usize>,
    /// A text that the id, the metadata or the items contain, in any case.
    pub search: Option<String>,
    /// The conversations to list; `None` for all.
    pub show: Option<ListPart>,
}

/// A part of the conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListPart {
    /// Those whose next turn needs something: all states but `healthy` and `unchecked`, and those
    /// whose last request was refused.
    Open,
    /// Those with an open turn.
    OpenTurn,
    /// Those that wait for outputs or approvals.
    Waiting,
    /// Those whose items the provider would reject.
    Poisoned,
    /// Those whose ledger may differ from the upstream.
    Stale,
    /// Those with repairs in the counted turns.
    Repaired,
    /// Those with a request that was refused, as far as the gateway process remembers it.
    Refused,
}

impl ListPart {
    /// Every part, by its name in queries.
    pub const ALL: [(&'static str, Self); 7] = [
        ("open", Self::Open),
        ("open_turn", Self::OpenTurn),
        ("waiting", Self::Waiting),
        ("poisoned", Self::Poisoned),
        ("stale", Self::Stale),
        ("repaired", Self::Repaired),
        ("refused", Self::Refused),
    ];

    /// The name in queries.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.into_iter().find(|(_, part)| *part == self);
        found.expect("the list has every part").0
    }

    /// Whether the conversation is in this part. `refused` are the turns that left no response.
    pub(super) fn contains(self, summary: &Summary, refused: &[RefusedTurnView]) -> bool {
        use ConversationState as S;
        match self {
            Self::Open => {
                !matches!(summary.state, S::Healthy | S::Unchecked)
                    || refused.iter().any(|turn| turn.is_last_of(summary))
            }
            Self::OpenTurn => matches!(summary.state, S::OpenTurn { .. }),
            Self::Waiting => matches!(summary.state, S::Waiting { .. }),
            Self::Poisoned => matches!(summary.state, S::Poisoned { .. }),
            Self::Stale => summary.state == S::Stale,
            Self::Repaired => summary.repaired_turns > 0,
            Self::Refused => refused.iter().any(|turn| turn.continues(summary)),
        }
    }
}

/// The parameters of a page of turns or of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PageQuery {
    /// The cursor of a page; `None` for the first.
    pub after: Option<String>,
    /// The maximum number of entries.
    pub limit: Option<usize>,
}

/// The maximum number of entries that a query asks for.
pub(super) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

impl PageQuery {
    /// The number of entries before the page. A cursor of another form begins at the start.
    pub(super) fn offset(&self) -> usize {
        self.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(0)
    }
}

/// A lane of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaneName {
    /// The items of the request.
    Received,
    /// The stored items before the turn.
    StoredBefore,
    /// The items that the model received.
    Sent,
    /// The items of the answer.
    Returned,
}

impl FromStr for LaneName {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "received" => Ok(Self::Received),
            "stored_before" => Ok(Self::StoredBefore),
            "sent" => Ok(Self::Sent),
            "returned" => Ok(Self::Returned),
            _ => Err(()),
        }
    }
}

/// The positions that a page of conversations has reached in both lists that it is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListCursor {
    /// In the list of responses; `None` at its start.
    pub(super) response: Option<Recency>,
    /// In the list of conversations; `None` at its start.
    pub(super) conversation: Option<(i64, ConversationId)>,
}

impl ListCursor {
    /// Reads a cursor. One of another form begins at the start.
    pub(super) fn parse(text: &str) -> Self {
        let mut parts = text.split('.');
        let response = pair(parts.next()).and_then(|(created_at, number)| {
            Some(Recency { created_at, number: number.parse().ok()? })
        });
        let conversation =
            pair(parts.next()).and_then(|(at, id)| Some((at, ConversationId::parse(id)?)));
        Self { response, conversation }
    }

    /// The text of the cursor.
    pub(super) fn to_text(&self) -> String {
        let response = self.response.map(|at| format!("{}-{}", at.created_at, at.number));
        let conversation = self.conversation.as_ref().map(|(at, id)| format!("{at}-{id}"));
        format!("{}.{}", response.unwrap_or_default(), conversation.unwrap_or_default())
    }
}

fn pair(part: Option<&str>) -> Option<(i64, &str)> {
    let (at, rest) = part?.split_once('-')?;
    Some((at.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_read_as_written() {
        let id = ConversationId::parse(&format!("conv_{}", "1".repeat(48))).unwrap();
        let response = Some(Recency { created_at: 1_700_000_000, number: 42 });
        for cursor in [
            ListCursor::default(),
            ListCursor { response, conversation: None },
            ListCursor { response, conversation: Some((3, id)) },
        ] {
            assert_eq!(ListCursor::parse(&cursor.to_text()), cursor);
        }
    }

    #[test]
    fn foreign_cursor_begins_at_the_start() {
        assert_eq!(ListCursor::parse("latest"), ListCursor::default());
        assert_eq!(PageQuery { after: Some("x".into()), limit: None }.offset(), 0);
    }

    #[test]
    fn limit_has_bounds() {
        assert_eq!((limit(None), limit(Some(0)), limit(Some(1000))), (20, 1, 100));
    }
}
