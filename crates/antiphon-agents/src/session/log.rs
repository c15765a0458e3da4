//! A session as an append-only log of entries, so that each change is one append.

use antiphon::Item;
use antiphon::item::{CallId, CallKey, Kind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::SessionContent;
use crate::item_json;

/// An entry that is not an item of the conversation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// Tools were started.
    Started {
        /// The kind and the `call_id` of each call.
        calls: Vec<(String, String)>,
    },
    /// The first items were replaced.
    Replaced {
        /// The number of replaced items.
        old: usize,
        #[serde(with = "item_json::list")]
        new: Vec<Item>,
    },
    /// The last items were removed, if they were exactly these.
    Popped {
        #[serde(with = "item_json::list")]
        tail: Vec<Item>,
    },
    /// All items were removed.
    Cleared,
}

/// A change as it is stored: an item of a kind that no API has.
#[derive(Serialize, Deserialize)]
struct Entry {
    r#type: String,
    change: Change,
}

/// The kind of changes.
const KIND: &str = "antiphon.session_change";

impl Change {
    fn started(calls: &[CallKey]) -> Self {
        let names = |key: &CallKey| (key.kind.as_str().to_owned(), key.call_id.as_str().to_owned());
        Self::Started { calls: calls.iter().map(names).collect() }
    }

    /// The entry of the log.
    pub(super) fn into_item(self) -> Item {
        let entry = Entry { r#type: KIND.to_owned(), change: self };
        let json = serde_json::to_string(&entry).expect("a change has a JSON form");
        Item::parse(json.into()).expect("the text above is an item")
    }

    fn from_item(item: &Item) -> Option<Result<Self, serde_json::Error>> {
        let is_change = item.head().kind.as_str() == KIND;
        is_change.then(|| serde_json::from_str::<Entry>(item.text()).map(|entry| entry.change))
    }
}

/// The entries of new items, and of calls that are started after them.
pub(super) fn appended(items: &[Item], started: &[CallKey]) -> Vec<Item> {
    let mut entries = items.to_vec();
    if !started.is_empty() {
        entries.push(Change::started(started).into_item());
    }
    entries
}

/// The content after all entries of a log.
pub(super) fn fold(
    entries: impl IntoIterator<Item = Item>,
) -> Result<SessionContent, serde_json::Error> {
    let mut content = SessionContent::default();
    for entry in entries {
        match Change::from_item(&entry).transpose()? {
            None => content.items.push(entry),
            Some(change) => {
                apply(&mut content, change);
            }
        }
    }
    Ok(content)
}

/// Applies a change. Returns whether it fits the content.
pub(super) fn apply(content: &mut SessionContent, change: Change) -> bool {
    let items = &mut content.items;
    match change {
        Change::Started { calls } => {
            let key = |(kind, id): (String, String)| CallKey {
                kind: Kind::parse(&kind),
                call_id: CallId::from(id),
            };
            content.started.extend(calls.into_iter().map(key));
        }
        Change::Replaced { old, new } => {
            if items.len() < old {
                return false;
            }
            items.splice(..old, new);
        }
        Change::Popped { tail } => match crate::rules::count_tail_to_pop(items, &tail) {
            Some(count) => items.truncate(items.len() - count),
            None => return false,
        },
        Change::Cleared => *content = SessionContent::default(),
    }
    true
}

/// The state of a run as a JSON object of strings, the form of a conversation's metadata.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RunRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<Box<RawValue>>,
}
