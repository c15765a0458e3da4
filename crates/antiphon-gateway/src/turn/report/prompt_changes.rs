//! The differences between the items of a turn and the prompt of its upstream.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use antiphon::dialect::Omission;
use antiphon::faults::OmissionReason;
use antiphon::item::CallId;
use antiphon::repair::{Repair, ReportedRepair};
use antiphon::{Item, ItemId, Kind};
use serde::Serialize;

use crate::error::ApiError;
use crate::request::ClientChanges;
use crate::trace::shortened;

/// The differences between the items of a turn and the prompt of its upstream: items and fields
/// that were dropped, repaired or converted.
#[derive(Clone, Debug, Default, Serialize)]
pub(in crate::turn) struct PromptChanges {
    /// Faults that a provider would have rejected, and their repairs.
    pub(super) repairs: Vec<ReportedRepair>,
    /// Fields that the upstream's API cannot carry unchanged: dropped or converted.
    adapted_fields: Vec<AdaptedField>,
    /// The oldest items, dropped because the prompt was too long.
    pub(super) truncated: Vec<TruncatedItem>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct TruncatedItem {
    /// The position in the input; null for a stored item.
    position: Option<usize>,
    #[serde(rename = "type")]
    kind: String,
    item_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct AdaptedField {
    /// The path in the request.
    field: String,
    message: String,
}

/// The length in bytes of the repairs in a line of the log, if it has more than one fault.
const MAX_SHORT: usize = 60;
/// The maximum length of the id of a repaired item, in characters.
const MAX_ID: usize = 24;
/// The name of the fault of a field that was dropped or converted.
const ADAPTED_FIELD: &str = "adapted_field";

impl PromptChanges {
    /// Adds the changes for another prompt of the same turn that this one lacks.
    pub(in crate::turn) fn add_new(&mut self, other: Self) {
        for repair in other.repairs {
            if !self.repairs.contains(&repair) {
                self.repairs.push(repair);
            }
        }
        for field in other.adapted_fields {
            if !self.adapted_fields.contains(&field) {
                self.adapted_fields.push(field);
            }
        }
        self.truncated.extend(other.truncated);
    }

    /// Adds the changes to a request of a client of another API.
    pub(in crate::turn) fn add_client_changes(&mut self, changes: &ClientChanges) {
        self.repairs.extend_from_slice(&changes.repairs);
        for Omission { place, message } in &changes.fields {
            self.adapted_field(&place.to_string(), message);
        }
    }

    /// Adds the truncated items of a related request, such as the one for a summary.
    pub(in crate::turn) fn add_truncated(&mut self, other: Self) {
        self.truncated.extend(other.truncated);
    }

    /// Reports an item that was dropped because the prompt was too long.
    pub(in crate::turn) fn truncated(
        &mut self,
        position: Option<usize>,
        item: &Item,
        id: Option<&ItemId>,
    ) {
        let (kind, item_id) = (item.head().kind.to_string(), id.map(ToString::to_string));
        self.truncated.push(TruncatedItem { position, kind, item_id });
    }

    /// Reports an item that was left out of the prompt.
    pub(in crate::turn) fn left_out_of_view(
        &mut self,
        source: Option<usize>,
        item: &Item,
        why: OmissionReason,
    ) {
        self.repairs.push(ReportedRepair::from_omission(source, item, why));
    }

    /// Reports a compaction that the model cannot read and that was expanded.
    pub(in crate::turn) fn add_expansion(&mut self, source: Option<usize>, item: &Item) {
        let why = OmissionReason::ForeignCompaction;
        let names = (why.name(), "expanded");
        self.repairs.push(ReportedRepair::new(source, item.head(), names, why.message()));
    }

    /// Reports a failed compaction. The turn continues with the whole history.
    pub(in crate::turn) fn add_failed_compaction(&mut self, error: &ApiError) {
        let message = format!("The history could not be compacted: {error}");
        let names = ("failed_compaction", "uncompacted");
        self.repairs.push(ReportedRepair::without_item(Kind::Compaction, names, message));
    }

    pub(in crate::turn) fn add_repair(
        &mut self,
        source: Option<usize>,
        item: &Item,
        mend: &Repair,
    ) {
        self.repairs.push(ReportedRepair::from_repair(source, item, mend));
    }

    /// Reports a field that the upstream's API cannot carry.
    pub(in crate::turn) fn adapted_field(&mut self, field: &str, message: &str) {
        let (field, message) = (field.to_owned(), message.to_owned());
        self.adapted_fields.push(AdaptedField { field, message });
    }

    /// Reports an item, or a part of one, that the upstream's API cannot carry.
    pub(in crate::turn) fn adapted_item(
        &mut self,
        source: Option<usize>,
        item: &Item,
        message: String,
    ) {
        let names = ("not_in_dialect", "adapted");
        self.repairs.push(ReportedRepair::new(source, item.head(), names, message));
    }

    /// Reports calls that were sent with a placeholder for their lost reasoning.
    pub(in crate::turn) fn reasoning_placeholders(&mut self, calls: usize) {
        let message = "The upstream requires the reasoning of earlier calls, which is not stored \
                       here. A space replaces it.";
        let names = ("missing_reasoning", "stood_in");
        let repair = ReportedRepair::without_item(Kind::Reasoning, names, message);
        self.repairs.extend(std::iter::repeat_n(repair, calls));
    }

    /// Whether all items were sent, each with its own bytes.
    pub(in crate::turn) fn leaves_items_unchanged(&self) -> bool {
        self.repairs.is_empty() && self.truncated.is_empty()
    }

    /// The repairs.
    pub(in crate::turn) fn repairs(&self) -> &[ReportedRepair] {
        &self.repairs
    }

    /// Whether the item was dropped because the prompt was too long. `position` is its position in
    /// the input; a stored item has none.
    pub(in crate::turn) fn is_truncated(&self, position: Option<usize>, id: &ItemId) -> bool {
        let is_it = |item: &TruncatedItem| match position {
            Some(_) => item.position == position,
            None => item.item_id.as_deref() == Some(id.as_str()),
        };
        self.truncated.iter().any(is_it)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.repairs.is_empty() && self.adapted_fields.is_empty() && self.truncated.is_empty()
    }

    /// The faults, once for each repair.
    pub(super) fn faults(&self) -> impl Iterator<Item = &'static str> {
        let faults = self.repairs.iter().map(|repair| repair.fault);
        faults.chain(std::iter::repeat_n(ADAPTED_FIELD, self.adapted_fields.len()))
    }

    /// Counts the repairs by fault name, as `fault=N, …`; `None` if there are none.
    pub(super) fn counts(&self) -> Option<String> {
        Some(ReportedRepair::count_faults(self.faults())).filter(|counts| !counts.is_empty())
    }

    /// Counts the repairs by fault, the most frequent first, as `fault=N (ITEM), …` with the first
    /// repaired item. Beyond [`MAX_SHORT`] bytes, counts the other faults together.
    pub(super) fn short_counts(&self) -> Option<String> {
        let mut counts = self.counted_faults();
        counts.sort_by_key(|(_, repairs)| Reverse(repairs.len()));
        let mut text = String::new();
        let mut other = 0;
        for (fault, repairs) in counts {
            let item = repairs.iter().find_map(|repair| repair.map(item_name));
            let item = item.map_or_else(String::new, |item| format!(" ({item})"));
            let entry = format!("{fault}={}{item}", repairs.len());
            match text.is_empty() || text.len() + entry.len() <= MAX_SHORT {
                true => push_entry(&mut text, &entry),
                false => other += repairs.len(),
            }
        }
        if other > 0 {
            push_entry(&mut text, &format!("other={other}"));
        }
        (!text.is_empty()).then_some(text)
    }

    /// The repairs of each fault, by the fault's name. Fields have no report of their own.
    fn counted_faults(&self) -> Vec<(&'static str, Vec<Option<&ReportedRepair>>)> {
        let mut counts: BTreeMap<&str, Vec<Option<&ReportedRepair>>> = BTreeMap::new();
        for repair in &self.repairs {
            counts.entry(repair.fault).or_default().push(Some(repair));
        }
        if !self.adapted_fields.is_empty() {
            counts.insert(ADAPTED_FIELD, vec![None; self.adapted_fields.len()]);
        }
        counts.into_iter().collect()
    }
}

fn push_entry(text: &mut String, entry: &str) {
    if !text.is_empty() {
        text.push_str(", ");
    }
    text.push_str(entry);
}

/// The id of a repaired item, or else its call's, or else its kind.
fn item_name(repair: &ReportedRepair) -> &str {
    let call_id = || repair.call_id.as_ref().map(CallId::as_str);
    let item = repair.id.as_ref().map(ItemId::as_str).or_else(call_id);
    shortened(item.unwrap_or(repair.kind.as_str()), MAX_ID)
}
