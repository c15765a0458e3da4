//! Inputs of real clients, reconciled with stored conversations. Each shape was recorded from the
//! client that its module names.

mod abort;
mod agent_framework;
mod agents_sdk;
mod ai_sdk;
mod call_ids;
mod calls;
mod deletions;
mod deltas;
mod elsewhere;
mod ids;
mod instructions;
mod langchain;
mod late;
mod open_responses;
mod windows;

use super::{Doubts, Reconciliation, ReplayStyle, Resent, Rule, Verdict};
use crate::item::{FingerprintKey, Item, ItemId, Kind};
use crate::transcript::{HeldItem, Origin, Transcript};

const KEY: FingerprintKey = FingerprintKey::new([7; 16]);

/// The items of a state owner, each under its own id or an issued one.
struct Owner(Vec<HeldItem>);

/// An owner of `items`.
fn owner(items: impl IntoIterator<Item = Item>) -> Owner {
    let hold = |(number, item): (usize, Item)| {
        let issued = || ItemId::from(format!("issued_{number}"));
        HeldItem::new(item.head().id.clone().unwrap_or_else(issued), &item, KEY, None)
    };
    Owner(items.into_iter().enumerate().map(hold).collect())
}

impl Owner {
    /// Deletes some of the items. Their tombstones stay.
    fn without(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|position| self.0[position].body = crate::Body::Erased);
        self
    }

    /// Marks some instructions as replacements of earlier ones.
    fn with_replacements(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|position| self.0[position].supersedes = true);
        self
    }

    /// Marks some outputs and messages as placeholders.
    fn with_placeholders(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|at| self.0[at].origin = Some(Origin::placeholder()));
        self
    }

    /// Moves all bodies to another owner.
    fn without_body(self) -> Self {
        Self(self.0.into_iter().map(HeldItem::without_body).collect())
    }

    /// The verdicts on `incoming`.
    fn reconcile(self, incoming: impl IntoIterator<Item = Item>) -> Vec<Verdict> {
        self.reconcile_with(ReplayStyle::Unknown, incoming).verdicts
    }

    /// The verdicts on `incoming` of a client that resends user messages only.
    fn reconcile_users(self, incoming: impl IntoIterator<Item = Item>) -> Vec<Verdict> {
        self.reconcile_with(ReplayStyle::UsersOnly, incoming).verdicts
    }

    /// The verdicts and doubts, which have to be the same if another owner has the bodies.
    fn reconcile_with(
        self,
        style: ReplayStyle,
        incoming: impl IntoIterator<Item = Item>,
    ) -> Reconciliation {
        let incoming: Vec<Item> = incoming.into_iter().collect();
        let found = Self(self.0.clone()).reconcile_here(style, &incoming);
        let expected = incoming.iter().zip(&found.verdicts).map(without_bodies);
        let expected =
            Reconciliation { verdicts: expected.collect(), doubts: found.doubts.clone() };
        let without_body = self.without_body().reconcile_here(style, &incoming);
        assert_eq!(without_body, expected, "with bodies elsewhere");
        found
    }

    /// The verdicts on `incoming` for bodies as they are stored here.
    fn reconcile_as_held(self, incoming: impl IntoIterator<Item = Item>) -> Vec<Verdict> {
        let incoming: Vec<Item> = incoming.into_iter().collect();
        self.reconcile_here(ReplayStyle::Unknown, &incoming).verdicts
    }

    /// The result for bodies as they are stored here.
    fn reconcile_here(self, style: ReplayStyle, incoming: &[Item]) -> Reconciliation {
        let transcript: Transcript = self.0.into_iter().collect();
        Reconciliation::new(&transcript, incoming, KEY, style)
    }
}

/// The expected verdict if only heads and fingerprints are stored: changes are only detected in
/// messages.
fn without_bodies((item, verdict): (&Item, &Verdict)) -> Verdict {
    match *verdict {
        Verdict::Resent(resent) if item.head().kind != Kind::Message => {
            Verdict::Resent(Resent { differs: false, ..resent })
        }
        verdict => verdict,
    }
}

const FRESH: Verdict = Verdict::Fresh;

/// The item is the one stored at `held`, matched by its id.
fn by_id(held: usize) -> Verdict {
    resent(held, Rule::SameId)
}

/// The item is the one stored at `held`, matched by its call.
fn by_call(held: usize) -> Verdict {
    resent(held, Rule::SameCall)
}

/// The message is the one stored at `held`, matched by its position in the sequence.
fn by_place(held: usize) -> Verdict {
    resent(held, Rule::Replayed)
}

/// The instructions equal those stored at `held`.
fn equal_to(held: usize) -> Verdict {
    resent(held, Rule::SameInstructions)
}

fn resent(held: usize, rule: Rule) -> Verdict {
    let differs = false;
    Verdict::Resent(Resent { held, rule, differs })
}

/// The same verdict for an item whose content differs from the stored one.
fn differing(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Resent(resent) => Verdict::Resent(Resent { differs: true, ..resent }),
        other => panic!("{other:?} compares nothing"),
    }
}
