//! Adds incoming items after the items of a server.

use std::collections::HashMap;

use super::report::Report;
use crate::faults::OmissionReason;
use crate::item::{FingerprintKey, Item, ItemId, Kind, Side};
use crate::placeholder::{LateOutput, late_output_message};
use crate::provider_api::RefusedItems;
use crate::reconcile::{Verdict, reconcile};
use crate::repair::made_with;
use crate::transcript::{HeldItem, Origin, Transcript};

/// Local ids for items whose ids the server has not returned yet. They contain a space, so they
/// never equal an id of a server.
#[derive(Debug)]
pub(super) struct LocalIds {
    stamp: u64,
    issued: usize,
}

impl LocalIds {
    /// Creates ids with this prefix, which has to be unique.
    pub(super) fn new(stamp: u64) -> Self {
        Self { stamp, issued: 0 }
    }

    pub(super) fn issue(&mut self) -> ItemId {
        self.issued += 1;
        ItemId::from(format!("{} {}", self.stamp, self.issued))
    }
}

/// Adds incoming items to the server's items, one by one.
pub(super) struct Admission<'a> {
    /// The server's items, followed by the new items of the input.
    pub(super) transcript: Transcript,
    /// The number of the server's items.
    pub(super) held: usize,
    /// The position of each new item in the input.
    pub(super) sources: Vec<usize>,
    /// The late outputs: the position in the input, and the position of the placeholder in the
    /// transcript.
    pub(super) late: Vec<(usize, usize)>,
    /// Whether the input refers to items that the server is not known to have.
    pub(super) names_unknown: bool,
    /// For each item the reasoning that the model produced it with.
    pub(super) made_with: HashMap<ItemId, ItemId>,
    pub(super) report: Report,
    incoming: &'a [Item],
    /// The position of the last message in the input.
    last_message: Option<usize>,
    hints: Hints<'a>,
    key: FingerprintKey,
}

/// Further information about an input.
#[derive(Clone, Copy)]
pub(super) struct Hints<'a> {
    /// The items of the input that the server rejected.
    pub(super) refused: &'a RefusedItems,
    /// Whether an earlier attempt of the same request stored the whole input.
    pub(super) is_stored: bool,
}

impl<'a> Admission<'a> {
    /// Adds the input after the server's items. `held` may be incomplete: the server may also have
    /// other items that the input refers to by id.
    pub(super) fn new(
        held: Transcript,
        incoming: &'a [Item],
        hints: Hints<'a>,
        (key, ids): (FingerprintKey, &mut LocalIds),
    ) -> Self {
        let heads = incoming.iter().map(|item| (item.head(), item.head().id.as_ref()));
        let mut made_with = made_with(heads);
        made_with.extend(hints.refused.made_with.clone());
        let mut admission = Self {
            held: held.items().len(),
            sources: Vec::new(),
            late: Vec::new(),
            names_unknown: incoming.iter().any(|item| names_unknown(item, &held, hints.refused)),
            made_with,
            report: Report::default(),
            last_message: incoming.iter().rposition(|item| item.head().kind == Kind::Message),
            transcript: held,
            incoming,
            hints,
            key,
        };
        let verdicts = reconcile(&admission.transcript, incoming, key);
        for (position, verdict) in verdicts.into_iter().enumerate() {
            admission.admit(position, verdict, ids);
        }
        admission
    }

    /// Whether an output has its call; true for other items.
    pub(super) fn has_call(&self, item: &Item) -> bool {
        let Some((Side::Output, key)) = item.head().pairing() else { return true };
        self.transcript.exchange(&key).is_some_and(|exchange| !exchange.calls.is_empty())
    }

    fn admit(&mut self, position: usize, verdict: Verdict, ids: &mut LocalIds) {
        let item = &self.incoming[position];
        let refused = self.hints.refused.reason_for(item.head().id.as_ref());
        if let Some(why) = refused.filter(|_| verdict.is_fresh()) {
            return self.report.add_omission(position, item, why);
        }
        match verdict {
            _ if self.hints.is_stored => self.report.resent += 1,
            Verdict::Resent(_) => self.report.resent += 1,
            Verdict::Deleted => self.report.add_omission(position, item, OmissionReason::Deleted),
            Verdict::Duplicate(_) => {
                self.report.add_omission(position, item, OmissionReason::Repeated);
            }
            Verdict::LateOutput { placeholder } => self.admit_late(position, placeholder, ids),
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Replaces => {
                match self.reason_without_call(position, item) {
                    Some(why) => self.report.add_omission(position, item, why),
                    None => self.keep(position, item, verdict, ids),
                }
            }
        }
    }

    /// Replaces a late output, whose call has a placeholder output, by a message.
    fn admit_late(&mut self, position: usize, placeholder: usize, ids: &mut LocalIds) {
        let item = &self.incoming[position];
        let message = late_output_message(item).expect("a late output is an output");
        self.late.push((position, placeholder));
        self.report.add_late_output(position, item, LateOutput::CarriedByMessage);
        self.push(
            position,
            HeldItem::new(ids.issue(), &message, self.key, Some(Origin::placeholder())),
        );
    }

    /// The reason to leave out an output without a call. An output after the last message is new,
    /// so the server has to reject it.
    fn reason_without_call(&self, position: usize, item: &Item) -> Option<OmissionReason> {
        let Some((Side::Output, key)) = item.head().pairing() else { return None };
        if item.head().kind == Kind::McpApprovalResponse {
            return None;
        }
        let exchange = self.transcript.exchange(&key);
        let call = exchange.and_then(|it| it.waiting().next().or(it.calls.last().copied()));
        match call.map(|call| &self.transcript.items()[call]) {
            Some(call) => call.is_tombstone().then_some(OmissionReason::CallCutShort),
            None if self.names_unknown => None,
            None => (self.last_message > Some(position)).then_some(OmissionReason::CallUnknown),
        }
    }

    fn keep(&mut self, position: usize, item: &Item, verdict: Verdict, ids: &mut LocalIds) {
        let own = item.head().id.clone();
        let is_free = |id: &ItemId| {
            let held = self.transcript.position(id);
            held.is_none_or(|at| self.transcript.items()[at].is_tombstone())
        };
        let mut kept = match own.filter(is_free) {
            Some(id) => HeldItem::new(id, item, self.key, None),
            None => HeldItem::new(ids.issue(), &unnamed(item), self.key, None),
        };
        if verdict == Verdict::FreshUnderUsedId {
            self.report.add_removed_id(position, item);
        }
        kept.supersedes = verdict == Verdict::Replaces;
        self.push(position, kept);
    }

    fn push(&mut self, position: usize, kept: HeldItem) {
        self.sources.push(position);
        self.transcript.push(kept);
    }
}

/// Whether it is a reference to an item that the server is not known to have.
fn names_unknown(item: &Item, held: &Transcript, refused: &RefusedItems) -> bool {
    let named = item.head().id.as_ref().filter(|_| item.head().kind == Kind::ItemReference);
    named.is_some_and(|id| held.position(id).is_none() && refused.reason_for(Some(id)).is_none())
}

/// The item without its id. A reference keeps its id, because it has no other content.
fn unnamed(item: &Item) -> Item {
    match item.head().id {
        Some(_) if item.head().kind != Kind::ItemReference => {
            item.with(|object| object.remove("id"))
        }
        _ => item.clone(),
    }
}
