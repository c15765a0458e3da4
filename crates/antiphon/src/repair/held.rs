//! Repairs input for a server that holds the conversation before it.

use std::collections::{HashMap, HashSet};

use super::after::is_unanswerable;
use super::{Action, Draft, OnOutputWithoutCall, Policy, Refused, Repair, Repaired, repair_draft};
use crate::faults::Fault;
use crate::item::{CallKey, Exchange, Exchanges, FingerprintKey, Head, Item, ItemId, Side};
use crate::reconcile::{Resent, Rule, Verdict, reconcile};
use crate::strip::{OnAnswer, find_held};
use crate::transcript::Transcript;

/// The items that a server holds of a conversation.
#[derive(Clone, Copy, Debug)]
pub enum Held<'a> {
    /// These items. The key is for the comparison of messages.
    Items(&'a Transcript, FingerprintKey),
    /// Unknown: the request names a conversation or a response. The input alone decides which items
    /// count as held ([`find_held`]). All other outputs stay under every policy, since the server
    /// may hold their calls.
    Unknown,
    /// Only the items that references in the input name. Outputs stay under every policy, since the
    /// server may hold their calls.
    Referenced,
}

/// Input that a server accepts as the continuation of the conversation that it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairedInput {
    /// The items to send.
    pub items: Vec<Item>,
    /// For each item its position in the input; `None` if it was changed or added.
    pub sources: Vec<Option<usize>>,
    /// The items that were left out, and the repairs.
    pub findings: Vec<Finding>,
}

/// A conflict between the input and the conversation that the server holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The item's position in the input; `None` for an item that the server holds.
    pub position: Option<usize>,
    /// The item's id, if it has one.
    pub id: Option<ItemId>,
    /// The fault that a provider would refuse; `None` if it would store the item a second time.
    pub fault: Option<Fault>,
    /// The action taken; `None` if the input cannot solve the conflict.
    pub action: Option<Action>,
    /// Whether only the policy [`OnAnswer::Drop`] left the item out: nothing shows that the server
    /// holds it.
    pub is_by_policy: bool,
}

/// Checks `incoming` as the continuation of the conversation that the server holds.
///
/// Returns first the items that the server already holds, in order; then the faults that it would
/// refuse, as [`check`](super::check) finds them. Those include calls that it holds and that
/// `incoming` leaves unanswered.
pub fn check_held(held: Held<'_>, incoming: &[Item]) -> Vec<Finding> {
    let mut input = Input::new(held, incoming, &Policy::default());
    let lost = input.lost_call();
    let mut findings = std::mem::take(&mut input.left_out);
    findings.extend(lost.map(|call| Finding {
        position: call.position,
        id: call.id,
        fault: Some(call.fault),
        action: None,
        is_by_policy: false,
    }));
    let Input { draft, origins, .. } = input;
    findings.extend(draft.into_faults().into_iter().map(|repair| origins.finding(repair)));
    findings
}

/// Repairs `incoming` as the continuation of the conversation that the server holds.
///
/// Leaves out the items that it holds, answers its unanswered calls, and repairs the rest according
/// to `policy`. A held item cannot be left out: if the policy drops unanswered calls, a held one is
/// answered all the same.
///
/// # Errors
/// [`Refused`] if the policy rejects a fault, or if a held call needs an output that has no
/// placeholder.
pub fn repair_held(
    held: Held<'_>,
    incoming: &[Item],
    policy: &Policy,
) -> Result<RepairedInput, Refused> {
    let input = Input::new(held, incoming, policy);
    if let Some(refused) = policy.refusal_of(&input.draft) {
        let position = refused.position.map(|fresh| input.origins.sources[fresh]);
        return Err(Refused { position, ..refused });
    }
    if let Some(refused) = input.lost_call() {
        return Err(refused);
    }
    let Input { draft, origins, left_out: mut findings } = input;
    let Repaired { items, sources, repairs } = draft.into_repaired();
    findings.extend(repairs.into_iter().map(|repair| origins.finding(repair)));
    let source = |position: Option<usize>| origins.position(position?);
    Ok(RepairedInput { items, sources: sources.into_iter().map(source).collect(), findings })
}

/// Leaves out of `incoming` the items that a server holds, judged by the input alone
/// ([`find_held`]), and repairs nothing.
pub fn leave_out_held(incoming: &[Item], answers: OnAnswer) -> RepairedInput {
    let mut continuation =
        RepairedInput { items: Vec::new(), sources: Vec::new(), findings: Vec::new() };
    let repetitions = find_by_input(incoming, answers);
    for (position, (item, repetition)) in incoming.iter().zip(repetitions).enumerate() {
        if let Some(repetition) = repetition {
            continuation.findings.push(Finding::left_out(position, item, repetition));
        } else {
            continuation.items.push(item.clone());
            continuation.sources.push(Some(position));
        }
    }
    continuation
}

/// An input under repair.
struct Input {
    /// The held items, then the fresh ones.
    draft: Draft,
    origins: Origins,
    left_out: Vec<Finding>,
}

/// The origin of each item of the draft.
struct Origins {
    /// How many items are held.
    held: usize,
    /// For each of the other items its position in the input.
    sources: Vec<usize>,
}

impl Input {
    fn new(held: Held<'_>, incoming: &[Item], policy: &Policy) -> Self {
        let mut items = held.items();
        let mut origins = Origins { held: items.len(), sources: Vec::new() };
        let mut left_out = Vec::new();
        let mut held_calls = HeldCalls::default();
        let repetitions = held.repetitions(incoming, policy.answers);
        for (position, repetition) in repetitions.into_iter().enumerate() {
            let item = &incoming[position];
            if let Some(repetition) = repetition {
                left_out.push(Finding::left_out(position, item, repetition));
                held_calls.add(item);
            } else {
                origins.sources.push(position);
                items.push(item.clone());
            }
        }
        let policy = held.bounds(policy.clone());
        let draft = Draft::with_held(origins.held, &items).with_calls_elsewhere(held_calls.counts);
        Self { draft: repair_draft(&items, draft, &policy), origins, left_out }
    }

    /// The first held call without an output whose kind has no placeholder output.
    fn lost_call(&self) -> Option<Refused> {
        let mut exchanges = Exchanges::default();
        for (position, item) in self.draft.items() {
            exchanges.push(position, item.head());
        }
        let is_unanswerable = |position: &usize| {
            self.draft.is_held(*position)
                && is_unanswerable(&self.draft.item(*position).head().kind)
        };
        let waiting = exchanges.iter().flat_map(Exchange::waiting);
        let head = self.draft.item(waiting.filter(is_unanswerable).min()?).head();
        let (_, CallKey { kind, call_id }) = head.pairing()?;
        let fault = Fault::UnansweredCall { kind, call_id };
        Some(Refused { position: None, id: head.id.clone(), fault })
    }
}

/// The calls of an input that the server holds. Some servers give several calls one `call_id`.
#[derive(Default)]
struct HeldCalls {
    counts: HashMap<CallKey, usize>,
    ids: HashSet<(CallKey, Option<ItemId>)>,
}

impl HeldCalls {
    /// Counts a call that was left out of the input. Calls of one key differ by their item ids.
    fn add(&mut self, item: &Item) {
        let head = item.head();
        if let Some((Side::Call, key)) = head.pairing()
            && self.ids.insert((key.clone(), head.id.clone()))
        {
            *self.counts.entry(key).or_default() += 1;
        }
    }
}

impl Origins {
    /// The position in the input for a position in the draft; `None` for a held item.
    fn position(&self, in_draft: usize) -> Option<usize> {
        in_draft.checked_sub(self.held).map(|fresh| self.sources[fresh])
    }

    fn finding(&self, repair: Repair) -> Finding {
        Finding {
            position: self.position(repair.position),
            id: repair.id,
            fault: Some(repair.fault),
            action: Some(repair.action),
            is_by_policy: false,
        }
    }
}

impl Finding {
    fn left_out(position: usize, item: &Item, repetition: Repetition) -> Self {
        let Repetition { fault, is_by_policy } = repetition;
        let id = item.head().id.clone();
        Self { position: Some(position), id, fault, action: Some(Action::Dropped), is_by_policy }
    }
}

/// An item of the input that the server already holds.
struct Repetition {
    /// The fault that a provider finds in it; `None` if the provider would not notice.
    fault: Option<Fault>,
    /// Whether only the policy counts it as held.
    is_by_policy: bool,
}

impl Held<'_> {
    /// The items that are certain to be held.
    fn items(&self) -> Vec<Item> {
        match self {
            Self::Items(transcript, _) => {
                transcript.items().iter().filter_map(crate::HeldItem::outline).collect()
            }
            Self::Unknown | Self::Referenced => Vec::new(),
        }
    }

    /// For each incoming item the repetition that it is, if it is held.
    fn repetitions(&self, incoming: &[Item], answers: OnAnswer) -> Vec<Option<Repetition>> {
        match self {
            Self::Items(transcript, key) => {
                let verdicts = reconcile(transcript, incoming, *key);
                let verdicts = incoming.iter().zip(verdicts);
                verdicts.map(|(item, verdict)| find_by_verdict(item, verdict)).collect()
            }
            Self::Unknown => find_by_input(incoming, answers),
            Self::Referenced => incoming.iter().map(|_| None).collect(),
        }
    }

    /// The policy, limited to decisions that are possible: if the held items are unknown, an output
    /// never counts as one without a call.
    fn bounds(&self, policy: Policy) -> Policy {
        match self {
            Self::Items(..) => policy,
            Self::Unknown | Self::Referenced => {
                Policy { outputs_without_call: OnOutputWithoutCall::Keep, ..policy }
            }
        }
    }
}

fn find_by_input(incoming: &[Item], answers: OnAnswer) -> Vec<Option<Repetition>> {
    let fault =
        |head: &Head| duplicate_item_fault(head).or_else(|| duplicate_pair_fault(head, true));
    let is_held = find_held(incoming, OnAnswer::Keep);
    let is_left_out = find_held(incoming, answers);
    let repetition = |(position, item): (usize, &Item)| {
        let is_by_policy = !is_held[position];
        is_left_out[position].then(|| Repetition { fault: fault(item.head()), is_by_policy })
    };
    incoming.iter().enumerate().map(repetition).collect()
}

fn find_by_verdict(item: &Item, verdict: Verdict) -> Option<Repetition> {
    let head = item.head();
    let fault = match verdict {
        Verdict::Fresh
        | Verdict::FreshUnderUsedId
        | Verdict::Replaces
        | Verdict::LateOutput { .. } => return None,
        Verdict::Duplicate(_) | Verdict::Resent(Resent { rule: Rule::SameId, .. }) => {
            duplicate_item_fault(head).or_else(|| duplicate_pair_fault(head, true))
        }
        Verdict::Resent(Resent { rule: Rule::SameCall, differs, .. }) => {
            duplicate_pair_fault(head, !differs)
        }
        Verdict::Resent(_) | Verdict::Deleted => None,
    };
    Some(Repetition { fault, is_by_policy: false })
}

fn duplicate_item_fault(head: &Head) -> Option<Fault> {
    head.id.clone().map(|id| Fault::DuplicateItem { id })
}

fn duplicate_pair_fault(head: &Head, identical: bool) -> Option<Fault> {
    let (kind, (side, CallKey { call_id, .. })) = (head.kind.clone(), head.pairing()?);
    Some(match side {
        Side::Call => Fault::DuplicateCall { kind, call_id, identical },
        Side::Output => Fault::DuplicateOutput { kind, call_id },
    })
}
