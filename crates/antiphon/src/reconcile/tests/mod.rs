//! What clients send, against what is held. Each shape was seen on the wire of the client that its
//! module names.

mod abort;
mod agent_framework;
mod agents_sdk;
mod ai_sdk;
mod calls;
mod deletions;
mod deltas;
mod elsewhere;
mod ids;
mod instructions;
mod langchain;
mod late;
mod open_responses;

use super::{Resent, Rule, Verdict, reconcile};
use crate::item::{FingerprintKey, Item, ItemId, Kind};
use crate::transcript::{HeldItem, Origin, Transcript};

const KEY: FingerprintKey = FingerprintKey::new([7; 16]);

/// What the state's owner holds, each item under its own id or one that was issued for it.
struct Owner(Vec<HeldItem>);

/// An owner that holds `items`.
fn owner(items: impl IntoIterator<Item = Item>) -> Owner {
    let hold = |(number, item): (usize, Item)| {
        let issued = || ItemId::from(format!("issued_{number}"));
        HeldItem::new(item.head().id.clone().unwrap_or_else(issued), &item, KEY, None)
    };
    Owner(items.into_iter().enumerate().map(hold).collect())
}

impl Owner {
    /// The same, with some items deleted: only their traces are left.
    fn without(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|position| self.0[position].body = crate::Body::Erased);
        self
    }

    /// The same, with some instructions in the place of earlier ones.
    fn superseding(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|position| self.0[position].supersedes = true);
        self
    }

    /// The same, with outputs and messages that nobody made.
    fn having_made_up(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        positions.into_iter().for_each(|at| self.0[at].origin = Some(Origin::made_up()));
        self
    }

    /// The same, with all bytes in other hands.
    fn elsewhere(self) -> Self {
        Self(self.0.into_iter().map(HeldItem::elsewhere).collect())
    }

    /// What becomes of each of `incoming`: the same, whoever has the bytes.
    fn reconcile(self, incoming: impl IntoIterator<Item = Item>) -> Vec<Verdict> {
        let incoming: Vec<Item> = incoming.into_iter().collect();
        let verdicts = Self(self.0.clone()).reconcile_as_held(incoming.clone());
        let told = incoming.iter().zip(&verdicts).map(as_far_as_heads_tell);
        let told: Vec<Verdict> = told.collect();
        assert_eq!(self.elsewhere().reconcile_as_held(incoming), told, "of what is held elsewhere");
        verdicts
    }

    /// What becomes of each of `incoming`, with the bytes where they are.
    fn reconcile_as_held(self, incoming: impl IntoIterator<Item = Item>) -> Vec<Verdict> {
        let transcript: Transcript = self.0.into_iter().collect();
        let incoming: Vec<Item> = incoming.into_iter().collect();
        reconcile(&transcript, &incoming, KEY)
    }
}

/// The verdict where only heads and fingerprints are held: of messages alone anybody can say
/// whether they differ.
fn as_far_as_heads_tell((item, verdict): (&Item, &Verdict)) -> Verdict {
    match *verdict {
        Verdict::Resent(resent) if item.head().kind != Kind::Message => {
            Verdict::Resent(Resent { differs: false, ..resent })
        }
        verdict => verdict,
    }
}

const FRESH: Verdict = Verdict::Fresh;

/// The item is the one held there, known by its id.
fn by_id(held: usize) -> Verdict {
    resent(held, Rule::SameId)
}

/// The item is the one held there, known by its call.
fn by_call(held: usize) -> Verdict {
    resent(held, Rule::SameCall)
}

/// The message is the one held there, known by its place.
fn by_place(held: usize) -> Verdict {
    resent(held, Rule::Replayed)
}

/// The instructions are the ones held there.
fn equal_to(held: usize) -> Verdict {
    resent(held, Rule::SameInstructions)
}

fn resent(held: usize, rule: Rule) -> Verdict {
    let differs = false;
    Verdict::Resent(Resent { held, rule, differs })
}

/// The same verdict on an item that says something else than what is held.
fn differing(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Resent(resent) => Verdict::Resent(Resent { differs: true, ..resent }),
        other => panic!("{other:?} compares nothing"),
    }
}
