//! The changes to a request in the form of a report.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::Repair;
use crate::faults::OmissionReason;
use crate::item::{CallId, Head, Item, ItemId, Kind};
use crate::placeholder::LateOutput;
use crate::reconcile::{Admission, Doubts, Treatment};

/// An item that a provider would have rejected or stored twice, and its repair.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ReportedRepair {
    /// The item's position in the input; `None` for a stored item.
    pub position: Option<usize>,
    /// The item's kind.
    #[serde(rename = "type", serialize_with = "serialize_kind")]
    pub kind: Kind,
    /// The item's id, if it has one.
    #[serde(rename = "item_id")]
    pub id: Option<ItemId>,
    /// The call id, by which logs name an item without an id.
    #[serde(skip)]
    pub call_id: Option<CallId>,
    /// The name of the fault in reports.
    pub fault: &'static str,
    /// The name of the repair in reports.
    pub action: &'static str,
    /// The provider's message for the fault, or ours if the provider has none.
    pub message: String,
}

impl ReportedRepair {
    /// A repair of the item with this head. `names` are those of the fault and the repair.
    pub fn new(
        position: Option<usize>,
        head: &Head,
        names: (&'static str, &'static str),
        message: impl Into<String>,
    ) -> Self {
        let Head { kind, id, call_id, .. } = head.clone();
        let (fault, action) = names;
        Self { position, kind, id, call_id, fault, action, message: message.into() }
    }

    /// A repair of an item that no request has. `names` are those of the fault and the repair.
    pub fn without_item(
        kind: Kind,
        (fault, action): (&'static str, &'static str),
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        Self { position: None, kind, id: None, call_id: None, fault, action, message }
    }

    /// An omitted item.
    pub fn from_omission(position: Option<usize>, item: &Item, reason: OmissionReason) -> Self {
        Self::new(position, item.head(), (reason.name(), "dropped"), reason.message())
    }

    /// A repaired item.
    pub fn from_repair(position: Option<usize>, item: &Item, repair: &Repair) -> Self {
        let message = repair.fault.refusal(position.unwrap_or(repair.position)).message;
        let names = (repair.fault.name(), repair.action.name());
        Self::new(position, item.head(), names, message)
    }

    /// A late output.
    pub fn from_late_output(position: usize, item: &Item, late: LateOutput) -> Self {
        let names = (LateOutput::FAULT, late.action());
        Self::new(Some(position), item.head(), names, late.message())
    }

    /// The repairs of an input.
    pub fn from_admission(input: &[Item], admission: &Admission) -> Vec<Self> {
        let treated = input.iter().zip(&admission.treatments).enumerate();
        let repairs =
            treated.filter_map(|(at, (item, treatment))| Self::from_treatment(at, item, treatment));
        repairs.chain(Self::from_doubts(input, &admission.doubts)).collect()
    }

    /// The messages of `input` that were added although they may be resent ones.
    pub fn from_doubts(input: &[Item], doubts: &Doubts) -> impl Iterator<Item = Self> {
        let repeated = "The message equals one of the latest stored messages. Nothing shows that \
                        the client resends its history, so the message was taken as new.";
        let unrecognized = "The message is part of a resent history, but equals no stored message. \
                            It was taken as new.";
        let new = move |names, message| {
            move |at: &usize| Self::new(Some(*at), input[*at].head(), names, message)
        };
        let repeated = doubts.repeated.iter().map(new(("repeated_text", "kept"), repeated));
        let unrecognized =
            doubts.unrecognized.iter().map(new(("unrecognized_replay", "kept"), unrecognized));
        repeated.chain(unrecognized)
    }

    /// The repair of an item of the input; `None` if it was added unchanged or stored already.
    pub fn from_treatment(position: usize, item: &Item, treatment: &Treatment) -> Option<Self> {
        let of_used_id = |action, message| {
            Some(Self::new(Some(position), item.head(), ("used_id", action), message))
        };
        match treatment {
            Treatment::Resent(resent) if resent.differs && item.head().kind.call().is_some() => {
                let message = "The call has another output already. The stored one is used.";
                let names = ("different_output", "dropped");
                Some(Self::new(Some(position), item.head(), names, message))
            }
            Treatment::Resent(_) | Treatment::StoredBefore(_) | Treatment::New => None,
            Treatment::Omitted(reason) => Some(Self::from_omission(Some(position), item, *reason)),
            Treatment::Late { .. } => {
                Some(Self::from_late_output(position, item, LateOutput::CarriedByMessage))
            }
            Treatment::Renamed(id) => {
                let message = "The id belongs to another stored message; this one has the id";
                of_used_id("renamed", format!("{message} '{id}'."))
            }
            Treatment::Unnamed => {
                let message = "The id belongs to another stored item, and was removed from this \
                               one.";
                of_used_id("id_removed", message.to_owned())
            }
        }
    }

    /// Counts faults by their names: `fault=N, …`.
    pub fn count_faults<'a>(faults: impl IntoIterator<Item = &'a str>) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for fault in faults {
            *counts.entry(fault).or_default() += 1;
        }
        let counts = counts.iter().map(|(fault, count)| format!("{fault}={count}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

pub(crate) fn serialize_kind<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}
