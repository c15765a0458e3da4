//! The stored report of a turn: how the turn treated each item.

use std::collections::{BTreeMap, HashMap};

use antiphon::HeldItem;
use antiphon::faults::Fault;
use antiphon_store::Seq;
use serde::Deserialize;

use super::model::{Cost, Fate};
use crate::turn::{ResentPlace, ResentRun};

/// The parts of a stored report that the lanes need.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StoredReport {
    pub(super) input_items: usize,
    resent: Vec<Resent>,
    pub(super) repairs: Vec<ReportedItem>,
    pub(super) truncated: Vec<ReportedItem>,
    pub(super) cost: Option<Cost>,
}

/// An entry of the resent items.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Resent {
    Run(ResentRun),
    Item(ReportedItem),
}

/// An item in a report.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReportedItem {
    /// The position in the input; `None` for a stored item.
    pub(super) position: Option<usize>,
    /// The position of a resent item in the transcript, if the report has it instead of the id.
    #[serde(skip)]
    pub(super) stored: Option<Seq>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) item_id: Option<String>,
    pub(super) rule: String,
    pub(super) differs: bool,
    pub(super) fault: String,
    pub(super) action: String,
    pub(super) message: String,
}

/// The treatment of a turn's items.
#[derive(Clone, Debug, Default)]
pub(super) struct Treatments {
    /// The resent items, by their positions in the input.
    pub(super) resent: BTreeMap<usize, ReportedItem>,
    /// The repaired and omitted items of the input, by their positions.
    pub(super) input: BTreeMap<usize, Vec<ReportedItem>>,
    /// Those of the stored items, by their ids.
    pub(super) stored: HashMap<String, Vec<ReportedItem>>,
    /// The repairs without an item, and those of stored items without an id.
    pub(super) others: Vec<ReportedItem>,
}

impl StoredReport {
    /// Reads a report. An unreadable one counts as empty.
    pub(super) fn parse(report: &[u8]) -> Self {
        serde_json::from_slice(report).unwrap_or_default()
    }

    /// The number of repairs by fault. An item that was kept unchanged only raised a doubt.
    pub(super) fn repairs_by_fault(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for repair in self.repairs.iter().filter(|repair| repair.action != "kept") {
            *counts.entry(repair.fault.clone()).or_default() += 1;
        }
        counts
    }

    /// Whether the model received all items as they are stored.
    pub(super) fn changes_nothing(&self) -> bool {
        self.repairs.is_empty() && self.truncated.is_empty()
    }

    /// The positions in the transcript of the resent items that match a condition, if the report
    /// has no ids of them.
    pub(super) fn resent_places(
        &self,
        is_wanted: impl Fn(&ResentPlace) -> bool,
    ) -> impl Iterator<Item = Seq> {
        let runs = self.resent.iter().filter_map(|resent| match resent {
            Resent::Run(run) => Some(run),
            Resent::Item(_) => None,
        });
        let places = runs.flat_map(ResentRun::places).filter(move |place| is_wanted(place));
        places.map(|place| place.stored)
    }

    /// The treatment of each item.
    pub(super) fn treatments(&self) -> Treatments {
        let mut treatments = Treatments::default();
        for resent in &self.resent {
            match resent {
                Resent::Run(run) => treatments.resent.extend(
                    run.places().map(|place| (place.position, ReportedItem::resent(place))),
                ),
                Resent::Item(item) => {
                    treatments.resent.extend(item.position.map(|at| (at, item.clone())));
                }
            }
        }
        for item in self.repairs.iter().chain(&self.truncated) {
            match (item.position, &item.item_id) {
                (Some(at), _) => treatments.input.entry(at).or_default().push(item.clone()),
                (None, Some(id)) => {
                    treatments.stored.entry(id.clone()).or_default().push(item.clone());
                }
                (None, None) => treatments.others.push(item.clone()),
            }
        }
        treatments
    }
}

impl Treatments {
    /// The treatments of a stored item. A report has no call id, so an item without an id is
    /// recognized by the provider's error, which names the call.
    pub(super) fn of_stored(&self, item: &HeldItem) -> Vec<&ReportedItem> {
        let named = self.stored.get(item.id.as_str()).into_iter().flatten();
        named.chain(self.others.iter().filter(|other| other.is_about(item))).collect()
    }
}

impl ReportedItem {
    fn resent(place: ResentPlace) -> Self {
        Self {
            position: Some(place.position),
            stored: Some(place.stored),
            rule: place.rule.to_owned(),
            differs: place.differs,
            ..Self::default()
        }
    }

    /// Whether the error of this treatment names the call of an item.
    fn is_about(&self, item: &HeldItem) -> bool {
        let (kind, call_id) = (item.head.kind.clone(), item.head.call_id.clone());
        if self.kind != kind.as_str() {
            return false;
        }
        let fault = match (&*self.fault, call_id) {
            ("unanswered_call", Some(call_id)) => Fault::UnansweredCall { kind, call_id },
            ("output_without_call", call_id) => Fault::OutputWithoutCall { kind, call_id },
            _ => return false,
        };
        fault.refusal(0).message == self.message
    }

    /// The provider's error. The report of an omitted duplicate has a reason of our own.
    fn provider_message(&self) -> String {
        match (&*self.fault, &self.item_id) {
            ("duplicate_item", Some(id)) => {
                let fault = Fault::DuplicateItem { id: id.as_str().into() };
                fault.refusal(self.position.unwrap_or_default()).message
            }
            _ => self.message.clone(),
        }
    }

    /// Whether the item is not in the prompt.
    pub(super) fn is_left_out(&self) -> bool {
        self.fault.is_empty() || matches!(&*self.action, "dropped" | "replaced")
    }

    /// Whether a placeholder follows the item, or stands in its place.
    pub(super) fn has_placeholder(&self) -> bool {
        matches!(&*self.action, "answered" | "stood_in")
    }

    /// What became of the item. A truncated item has no fault.
    pub(super) fn fate(&self) -> Fate {
        let (fault, message) = (self.fault.clone(), self.provider_message());
        match &*self.action {
            _ if self.fault.is_empty() => Fate::Truncated,
            "dropped" | "replaced" => Fate::LeftOut { fault, message },
            action => Fate::Repaired { fault, action: action.to_owned(), message },
        }
    }

    /// The fate of the placeholder.
    pub(super) fn placeholder_fate(&self) -> Fate {
        Fate::Placeholder { fault: self.fault.clone(), message: self.message.clone() }
    }

    /// That it was resent.
    pub(super) fn known(&self) -> Fate {
        Fate::Known { rule: self.rule.clone(), differs: self.differs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_are_found_by_position_or_id() {
        let report = StoredReport::parse(
            br#"{"input_items":2,"resent":[{"position":0,"type":"message","item_id":"msg_1",
                "rule":"same_id","differs":true}],
                "repairs":[{"position":1,"type":"function_call","item_id":null,
                "fault":"unanswered_call","action":"answered","message":"No tool output."},
                {"position":null,"type":"reasoning","item_id":"rs_1","fault":"lone_reasoning",
                "action":"dropped","message":"m"}],
                "truncated":[{"position":null,"type":"message","item_id":"msg_0"}]}"#,
        );
        let treatments = report.treatments();
        assert_eq!(
            treatments.resent[&0].known(),
            Fate::Known { rule: "same_id".into(), differs: true }
        );
        assert!(treatments.input[&1][0].has_placeholder());
        assert!(treatments.stored["rs_1"][0].is_left_out());
        assert_eq!(treatments.stored["msg_0"][0].fate(), Fate::Truncated);
        assert_eq!(report.repairs_by_fault()["lone_reasoning"], 1);
    }

    #[test]
    fn unreadable_report_counts_as_empty() {
        assert!(StoredReport::parse(b"?").changes_nothing());
    }
}
