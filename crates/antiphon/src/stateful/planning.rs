//! Selects the input items to send to a server that has the conversation before them.

use super::course::Removal;
use super::deletion::Deletion;
use super::history::History;
use super::local_ids::LocalIds;
use super::report::Report;
use super::request::Continues;
use super::{BlockingItems, Draft, RepairedDraft};
use crate::faults::OmissionReason;
use crate::item::{FingerprintKey, Item, Kind};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::RefusedItems;
use crate::reconcile::{
    AdmissionMode, AdmissionRules, Reconciliation, ReplayStyle, StoredInput, Verdict,
};
use crate::repair::{Held, OnOutputWithoutCall, Policy, ReportedRepair, repair_held, repair_with};
use crate::transcript::{HeldItem, Origin};

/// The items to send, and the items that the server will then have.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) sent: Vec<Item>,
    /// The sent items in their stored form.
    pub(super) fresh: Vec<HeldItem>,
    /// The stored items to delete before.
    pub(super) blocking: BlockingItems,
    /// Whether the server will have items after this turn that are unknown here.
    pub(super) names_unknown: bool,
    /// Whether an earlier attempt of the same request stored its input.
    pub(super) is_again: bool,
    pub(super) report: Report,
}

/// Plans the requests for one input.
pub(super) struct Planner<'a> {
    pub(super) input: &'a [Item],
    /// The items of the input that the server refused.
    pub(super) refused: &'a RefusedItems,
    /// Whether an earlier attempt of the same request stored the whole input.
    pub(super) is_stored: bool,
    pub(super) key: FingerprintKey,
    pub(super) style: ReplayStyle,
    pub(super) ids: &'a mut LocalIds,
}

impl Plan {
    /// Whether no item is left to send, although the server does not have all items of the input.
    pub(super) fn is_emptied(&self, input: &[Item]) -> bool {
        self.sent.is_empty() && self.report.resent < input.len()
    }

    /// The way to remove the items that block it.
    pub(super) fn removal(&self, continues: &Continues) -> Removal {
        match continues {
            Continues::Conversation(_) if !self.blocking.is_empty() => {
                Removal::Deletion { has_ids: Deletion::is_possible(&self.blocking) }
            }
            Continues::Response(_) if self.blocking.is_unrepairable() => Removal::Detour,
            _ => Removal::None,
        }
    }
}

impl Planner<'_> {
    /// The plan after the known items of a server: the items that it does not have, and outputs for
    /// its calls without one. Outputs without a call stay: the server has an error for them.
    pub(super) fn plan_after(mut self, history: &History) -> Plan {
        let draft = self.draft(history);
        let blocking = draft.blocking();
        let repaired = draft.repair(OnOutputWithoutCall::Keep, |item| self.held(item));
        let RepairedDraft { sent, fresh, repairs } = repaired;
        let mut report = Report::from_admission(self.input, &draft.admission);
        report.repairs.extend(repairs);
        let names_unknown = draft.admission.names_unknown;
        Plan { sent, fresh, blocking, names_unknown, is_again: self.is_stored, report }
    }

    fn draft(&mut self, history: &History) -> Draft {
        let mut rules = AdmissionRules::new(self.key, AdmissionMode::Client, false);
        rules.style = self.style;
        if self.is_stored {
            rules.stored = StoredInput::All;
        }
        let (stored, mut issue_id) = (history.transcript(), |_: &Kind| self.ids.issue());
        let draft = Draft::new(stored, self.input, self.refused, rules, &mut issue_id);
        draft.expect("a client rejects no item")
    }

    /// The plan of a delivery: outputs for the server's calls without one. Late outputs become
    /// messages, as in a turn.
    pub(super) fn plan_delivery(mut self, history: &History) -> Plan {
        let Draft { admission, .. } = self.draft(history);
        let mut report = Report::from_admission(self.input, &admission);
        let blocking = BlockingItems::new(Vec::new(), &admission);
        let (mut sent, mut fresh) = (Vec::new(), Vec::new());
        let new = admission.transcript.items()[admission.held..].iter();
        for (held, position) in new.zip(&admission.sources) {
            match held.item().filter(|item| admission.has_call(item)) {
                Some(item) => {
                    sent.push(item);
                    fresh.push(held.clone());
                }
                None => report.repairs.push(ReportedRepair::from_omission(
                    Some(*position),
                    &self.input[*position],
                    OmissionReason::CallUnknown,
                )),
            }
        }
        let names_unknown = admission.names_unknown;
        Plan { sent, fresh, blocking, names_unknown, is_again: self.is_stored, report }
    }

    /// The plan for a request that continues nothing.
    pub(super) fn plan_first(mut self) -> Plan {
        let mut report = Report::default();
        let input: Vec<(usize, &Item)> = self.not_refused(&mut report);
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let refers = items.iter().any(|item| item.head().kind == Kind::ItemReference);
        let outputs_without_call =
            if refers { OnOutputWithoutCall::Keep } else { OnOutputWithoutCall::Drop };
        let made_with = self.refused.made_with.clone();
        let policy = Policy { outputs_without_call, made_with, ..Policy::default() };
        let repaired = repair_with(&items, &policy).expect("the policy rejects nothing");
        for repair in &repaired.repairs {
            let (position, item) = input[repair.position];
            report.repairs.push(ReportedRepair::from_repair(Some(position), item, repair));
        }
        // A client that resends model items will do so again, so only the start of a chain is
        // stored.
        let is_beginning = !refers && !items.iter().any(|item| item.head().is_model_made());
        let fresh = match is_beginning {
            true => repaired.items.iter().map(|item| self.held(item)).collect(),
            false => Vec::new(),
        };
        let blocking = BlockingItems::default();
        let (sent, names_unknown) = (repaired.items, !is_beginning);
        Plan { sent, fresh, blocking, names_unknown, is_again: false, report }
    }

    /// The plan for a server that does not list its items. It leaves out the items of earlier
    /// turns, and of the others those that the server creates itself.
    pub(super) fn plan_by_kind(mut self, received: &History) -> Plan {
        let mut report = Report::default();
        let mut input: Vec<(usize, &Item)> = self.not_refused(&mut report);
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let stored = received.transcript();
        let found = Reconciliation::new(&stored, &items, self.key, self.style);
        let mut verdicts = found.verdicts.into_iter();
        input.retain(|_| verdicts.next().is_some_and(Verdict::is_fresh));
        report.resent += items.len() - input.len();
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let continued = repair_held(Held::Unknown, &items, &Policy::default());
        let continued = continued.expect("the policy rejects nothing, and no call is held");
        report.add_findings(&input, &continued.findings);
        let (blocking, sent) = (BlockingItems::default(), continued.items);
        let fresh = sent.iter().map(|item| self.held(item)).collect();
        Plan { sent, fresh, blocking, names_unknown: false, is_again: false, report }
    }

    /// The input items that the server did not reject, with their positions.
    fn not_refused(&self, report: &mut Report) -> Vec<(usize, &Item)> {
        let omissions = self.refused.omissions(self.input);
        let (refused, rest): (Vec<_>, Vec<_>) =
            self.input.iter().enumerate().partition(|(at, _)| omissions.contains_key(at));
        report.repairs.extend(refused.into_iter().map(|(position, item)| {
            ReportedRepair::from_omission(Some(position), item, omissions[&position])
        }));
        rest
    }

    /// The stored form of an item without further information.
    fn held(&mut self, item: &Item) -> HeldItem {
        let id = item.head().id.clone().unwrap_or_else(|| self.ids.issue());
        HeldItem::new(id, item, self.key, is_placeholder_item(item).then(Origin::placeholder))
            .without_body()
    }
}
