//! Incoming items on their way behind what a server holds.

use std::collections::HashMap;

use super::report::Report;
use crate::faults::LeftOut;
use crate::item::{FingerprintKey, Item, ItemId, Kind, Side};
use crate::kept::Objections;
use crate::made_up::{LateOutput, message_of_late_output};
use crate::reconcile::{Verdict, reconcile};
use crate::repair::made_with;
use crate::transcript::{HeldItem, Origin, Transcript};

/// Ids for what the server names by ids that are not known yet. No id of a server's is like them: they
/// have a space.
#[derive(Debug)]
pub(super) struct LocalIds {
    stamp: u64,
    issued: usize,
}

impl LocalIds {
    /// Ids that begin with a number that was not given before.
    pub(super) fn of(stamp: u64) -> Self {
        Self { stamp, issued: 0 }
    }

    pub(super) fn issue(&mut self) -> ItemId {
        self.issued += 1;
        ItemId::from(format!("{} {}", self.stamp, self.issued))
    }
}

/// Takes incoming items behind what is held, one by one.
pub(super) struct Admission<'a> {
    /// What is held, and what of the input is new behind it.
    pub(super) transcript: Transcript,
    /// How many items are held.
    pub(super) held: usize,
    /// For each new item its position in the input.
    pub(super) sources: Vec<usize>,
    /// The outputs that came late: each position in the input, and where the made-up one is held.
    pub(super) late: Vec<(usize, usize)>,
    /// Whether the input names items that are not known to be held.
    pub(super) names_unknown: bool,
    /// Which reasoning items were made with.
    pub(super) made_with: HashMap<ItemId, ItemId>,
    pub(super) report: Report,
    incoming: &'a [Item],
    /// The position in the input behind which no message follows.
    last_message: Option<usize>,
    known: Known<'a>,
    key: FingerprintKey,
}

/// What is known of an input beside what is held.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// What the server refused of it.
    pub(super) objections: &'a Objections,
    /// Whether an earlier attempt of the same request brought all of it there.
    pub(super) is_brought: bool,
}

impl<'a> Admission<'a> {
    /// The input behind what is held, which the server has and this does not say in full: what has an id
    /// may be there.
    pub(super) fn of(
        held: Transcript,
        incoming: &'a [Item],
        known: Known<'a>,
        (key, ids): (FingerprintKey, &mut LocalIds),
    ) -> Self {
        let heads = incoming.iter().map(|item| (item.head(), item.head().id.as_ref()));
        let mut made_with = made_with(heads);
        made_with.extend(known.objections.made_with.clone());
        let mut admission = Self {
            held: held.items().len(),
            sources: Vec::new(),
            late: Vec::new(),
            names_unknown: incoming.iter().any(|item| names_unknown(item, &held, known.objections)),
            made_with,
            report: Report::default(),
            last_message: incoming.iter().rposition(|item| item.head().kind == Kind::Message),
            transcript: held,
            incoming,
            known,
            key,
        };
        let verdicts = reconcile(&admission.transcript, incoming, key);
        for (position, verdict) in verdicts.into_iter().enumerate() {
            admission.admit(position, verdict, ids);
        }
        admission
    }

    /// Whether there is a call for it, if it is an output.
    pub(super) fn has_call(&self, item: &Item) -> bool {
        let Some((Side::Output, key)) = item.head().pairing() else { return true };
        self.transcript.exchange(&key).is_some_and(|exchange| !exchange.calls.is_empty())
    }

    fn admit(&mut self, position: usize, verdict: Verdict, ids: &mut LocalIds) {
        let item = &self.incoming[position];
        let refused = self.known.objections.to_item(item.head().id.as_ref());
        if let Some(why) = refused.filter(|_| verdict.is_fresh()) {
            return self.report.left_out(position, item, why);
        }
        match verdict {
            _ if self.known.is_brought => self.report.resent += 1,
            Verdict::Resent(_) => self.report.resent += 1,
            Verdict::Deleted => self.report.left_out(position, item, LeftOut::Deleted),
            Verdict::Duplicate(_) => self.report.left_out(position, item, LeftOut::Repeated),
            Verdict::LateOutput { made_up } => self.tell_late(position, made_up, ids),
            Verdict::Fresh | Verdict::FreshUnderUsedId | Verdict::Supersedes => {
                match self.without_call(position, item) {
                    Some(why) => self.report.left_out(position, item, why),
                    None => self.keep(position, item, verdict, ids),
                }
            }
        }
    }

    /// A message takes the place of an output whose call a made-up one answered.
    fn tell_late(&mut self, position: usize, made_up: usize, ids: &mut LocalIds) {
        let item = &self.incoming[position];
        let message = message_of_late_output(item).expect("a late output is an output");
        self.late.push((position, made_up));
        self.report.late_output(position, item, LateOutput::Told);
        self.push(
            position,
            HeldItem::new(ids.issue(), &message, self.key, Some(Origin::made_up())),
        );
    }

    /// Why an output is left out that has no call to answer. One that stands last is the server's to
    /// refuse: it is new, and there is no place for it.
    fn without_call(&self, position: usize, item: &Item) -> Option<LeftOut> {
        let Some((Side::Output, key)) = item.head().pairing() else { return None };
        if item.head().kind == Kind::McpApprovalResponse {
            return None;
        }
        let exchange = self.transcript.exchange(&key);
        let call = exchange.and_then(|it| it.waiting().next().or(it.calls.last().copied()));
        match call.map(|call| &self.transcript.items()[call]) {
            Some(call) => call.is_tombstone().then_some(LeftOut::CallCutShort),
            None if self.names_unknown => None,
            None => (self.last_message > Some(position)).then_some(LeftOut::CallUnknown),
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
            self.report.unnamed(position, item);
        }
        kept.supersedes = verdict == Verdict::Supersedes;
        self.push(position, kept);
    }

    fn push(&mut self, position: usize, kept: HeldItem) {
        self.sources.push(position);
        self.transcript.push(kept);
    }
}

/// Whether it is a reference to what is not known to be held.
fn names_unknown(item: &Item, held: &Transcript, objections: &Objections) -> bool {
    let named = item.head().id.as_ref().filter(|_| item.head().kind == Kind::ItemReference);
    named.is_some_and(|id| held.position(id).is_none() && objections.to_item(Some(id)).is_none())
}

/// The item without its id. A reference is nothing without.
fn unnamed(item: &Item) -> Item {
    match item.head().id {
        Some(_) if item.head().kind != Kind::ItemReference => {
            item.with(|object| object.remove("id"))
        }
        _ => item.clone(),
    }
}
