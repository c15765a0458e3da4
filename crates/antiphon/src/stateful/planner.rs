//! Selects the input items to send to a server that has the conversation before them.

use super::{BlockingItems, ContinueFrom, Draft, Known, Plan, RepairedDraft, Report, Rules};
use crate::faults::{OmissionReason, Refusal};
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::is_placeholder_item;
use crate::provider_api::RefusedItems;
use crate::reconcile::{Admission, AdmissionRules, Reconciliation, StoredInput, Verdict};
use crate::repair::{Held, OnOutputWithoutCall, Policy, ReportedRepair, repair_held, repair_with};
use crate::transcript::{HeldItem, Origin, Transcript};

/// Plans a request for one input.
pub(super) struct Planner<'a> {
    pub(super) input: &'a [Item],
    /// The items of the input that the server refused.
    pub(super) refused: RefusedItems,
    pub(super) rules: &'a Rules,
    pub(super) issue_id: &'a mut (dyn FnMut(&Kind) -> ItemId + Send + Sync),
}

impl<'a> Planner<'a> {
    /// The plan after the known items of a server: the items that it does not have, and outputs for
    /// its calls without one.
    ///
    /// # Errors
    /// The provider's error for the first item that the rules reject.
    pub(super) fn plan_after(
        mut self,
        known: Known,
        continue_from: ContinueFrom,
    ) -> Result<Plan, Refusal> {
        let Known { mut items, stored, .. } = known;
        if let ContinueFrom::Detour(detour) = &continue_from {
            items = items.without(&detour.avoided);
        }
        let draft = self.draft(items, stored.clone())?;
        let mut report = Report::from_admission(self.input, &draft.admission);
        let blocking = draft.blocking();
        // The admission left out the outputs whose calls are unknown; the server may have the calls
        // of all others, or has an error for them.
        let mut outputs_without_call = OnOutputWithoutCall::Keep;
        let draft = match &continue_from {
            ContinueFrom::Earlier(point) => {
                let (draft, lost) = draft.into_replay(point.kept);
                let reason = OmissionReason::BareReasoning;
                let lost = lost.iter().map(|it| ReportedRepair::from_omission(None, it, reason));
                report.repairs.extend(lost);
                report.replayed = Some(draft.replayed_items());
                // All others are stored ones whose calls are gone.
                if draft.new_outputs_have_calls() {
                    outputs_without_call = OnOutputWithoutCall::Drop;
                }
                draft
            }
            ContinueFrom::AsRequested | ContinueFrom::Detour(_) => {
                if self.rules.is_strict {
                    draft.check(outputs_without_call)?;
                }
                draft
            }
        };
        let repaired = draft.repair(outputs_without_call, |item| self.hold(item));
        let RepairedDraft { mut sent, fresh, repairs } = repaired;
        if let ContinueFrom::Detour(detour) = &continue_from {
            sent.splice(0..0, detour.references.iter().cloned());
        }
        report.repairs.extend(repairs);
        let Admission { transcript, held, names_unknown, .. } = draft.admission;
        Ok(Plan {
            transcript,
            held,
            sent,
            fresh,
            names_unknown,
            continue_from,
            report,
            blocking,
            stored,
        })
    }

    fn draft(&mut self, items: Transcript, stored: StoredInput) -> Result<Draft, Refusal> {
        let Rules { key, mode, is_strict, style, .. } = *self.rules;
        let rules = AdmissionRules { style, stored, ..AdmissionRules::new(key, mode, is_strict) };
        Draft::new(items, self.input, &self.refused, rules, self.issue_id)
    }

    /// The plan of a delivery: outputs for the server's calls without one. Late outputs become
    /// messages, as in a turn.
    ///
    /// # Errors
    /// The provider's error for the first item that the rules reject.
    pub(super) fn plan_delivery(mut self, known: Known) -> Result<Plan, Refusal> {
        let Known { items, stored, .. } = known;
        let Draft { admission, .. } = self.draft(items, stored.clone())?;
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
        let Admission { transcript, held, names_unknown, .. } = admission;
        let plan = Plan { transcript, held, sent, fresh, names_unknown, ..Plan::default() };
        Ok(Plan { report, blocking, stored, ..plan })
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
            true => repaired.items.iter().map(|item| self.hold(item)).collect(),
            false => Vec::new(),
        };
        let (sent, names_unknown) = (repaired.items, !is_beginning);
        Plan { sent, fresh, names_unknown, report, ..Plan::default() }
    }

    /// The plan for a server that does not list its items. It leaves out the items of earlier
    /// turns, and of the others those that the server creates itself.
    pub(super) fn plan_by_kind(mut self, received: Known) -> Plan {
        let mut report = Report::default();
        let mut input: Vec<(usize, &Item)> = self.not_refused(&mut report);
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let Rules { key, style, .. } = *self.rules;
        let found = Reconciliation::new(&received.items, &items, key, style);
        let mut verdicts = found.verdicts.into_iter();
        input.retain(|_| verdicts.next().is_some_and(Verdict::is_fresh));
        report.resent += items.len() - input.len();
        let items: Vec<Item> = input.iter().map(|(_, item)| (*item).clone()).collect();
        let continued = repair_held(Held::Unknown, &items, &Policy::default());
        let continued = continued.expect("the policy rejects nothing, and no call is held");
        report.add_findings(&input, &continued.findings);
        let sent = continued.items;
        let fresh = sent.iter().map(|item| self.hold(item)).collect();
        let held = received.items.items().len();
        Plan { transcript: received.items, held, sent, fresh, report, ..Plan::default() }
    }

    /// The input items that the server did not reject, with their positions.
    fn not_refused(&self, report: &mut Report) -> Vec<(usize, &'a Item)> {
        let omissions = self.refused.omissions(self.input);
        let (refused, rest): (Vec<_>, Vec<_>) =
            self.input.iter().enumerate().partition(|(at, _)| omissions.contains_key(at));
        report.repairs.extend(refused.into_iter().map(|(position, item)| {
            ReportedRepair::from_omission(Some(position), item, omissions[&position])
        }));
        rest
    }

    /// The stored form of an item without further information.
    fn hold(&mut self, item: &Item) -> HeldItem {
        let head = item.head();
        let id = head.id.clone().unwrap_or_else(|| (self.issue_id)(&head.kind));
        let origin = is_placeholder_item(item).then(Origin::placeholder);
        HeldItem::new(id, item, self.rules.key, origin)
    }
}
