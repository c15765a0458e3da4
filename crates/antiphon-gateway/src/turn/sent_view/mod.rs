//! The record of a view that differs from the stored items.
//!
//! The view of most turns is the whole transcript, so it is rebuilt from the store and no record
//! exists. If the turn changed its view, its report has a record of the changes: positions in the
//! transcript, fields with ids, and placeholder outputs. It never has the content of an item, so a
//! deleted item is erased everywhere. `GET /v1/responses/{id}/report` does not show it.

mod build;

use antiphon::json::Object;
use antiphon_store::Seq;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The field of a stored report that has the record.
const FIELD: &str = "view";

/// The items that a model received, in order, and the stored items that it did not receive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SentView {
    /// The items of the view.
    pub(crate) items: Vec<SentItems>,
    /// Items that were left out: the position in the transcript, and the index of the reason in the
    /// repairs of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<(Seq, usize)>,
    /// The positions of items that were left out because the prompt was too long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) truncated: Vec<Seq>,
}

/// One or more consecutive items of a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum SentItems {
    /// The items of the transcript from the first position up to, but not including, the second.
    Range(Seq, Seq),
    /// An item of the transcript with other ids.
    Changed(ChangedItem),
    /// The content of the compaction at this position of the transcript.
    Opened {
        /// The position.
        opened: Seq,
    },
    /// An item that the gateway created.
    Placeholder {
        /// Its JSON.
        placeholder: String,
        /// The index of the repair in the report.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repair: Option<usize>,
    },
    /// An item that cannot be rebuilt.
    Unknown {
        /// Its type.
        unknown: String,
    },
}

/// An item of the transcript with other ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChangedItem {
    /// Its position in the transcript.
    pub(crate) changed: Seq,
    /// The fields with new values: the name and the JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) set: Vec<(String, String)>,
    /// The fields that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) removed: Vec<String>,
    /// The index of the repair in the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<usize>,
}

impl ChangedItem {
    /// Applies the changes to the fields of the stored item.
    pub(crate) fn apply(&self, fields: &mut Object<'_>) {
        for key in &self.removed {
            fields.remove(key);
        }
        for (key, raw) in &self.set {
            fields.set(key.clone(), raw.clone());
        }
    }
}

impl SentView {
    /// The view in a stored report. `None` if the model received the whole transcript.
    pub(crate) fn from_report(report: &[u8]) -> Option<Self> {
        serde_json::from_str(Object::parse(report).ok()?.present(FIELD)?).ok()
    }

    /// Adds a range of one item, or extends the last range.
    fn push(&mut self, at: Seq) {
        match self.items.last_mut() {
            Some(SentItems::Range(_, end)) if *end == at => *end += 1,
            _ => self.items.push(SentItems::Range(at, at + 1)),
        }
    }
}

/// The report for callers: the stored one without the record of the view.
pub(crate) fn public_report(report: &Bytes) -> Bytes {
    let Ok(mut fields) = Object::parse(report) else { return report.clone() };
    if fields.get(FIELD).is_none() {
        return report.clone();
    }
    fields.remove(FIELD);
    fields.to_bytes()
}
