//! System and developer messages. Clients put them before every request: equal ones are re-sent,
//! and other ones before the talk take the place of what is held.

use std::collections::{HashMap, HashSet};

use super::known::Known;
use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::Transcript;

pub(super) fn compare(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    known: &mut [Known],
) {
    if !incoming.iter().any(instructs) {
        return;
    }
    let held = Held::of(transcript);
    for (item, known) in incoming.iter().zip(&mut *known) {
        if instructs(item) && known.verdict == Verdict::Fresh {
            known.verdict = held.verdict(item, key);
        }
    }
    let heading = incoming.iter().take_while(|item| instructs(item)).count();
    for role in [Role::System, Role::Developer] {
        let of_role = |at: &usize| incoming[*at].head().role == Some(role);
        let messages: Vec<usize> = (0..heading).filter(of_role).collect();
        held.supersede(role, &messages, known);
    }
}

fn instructs(item: &Item) -> bool {
    item.head().role.is_some_and(Role::instructs)
}

type Says = (Option<Role>, Option<Fingerprint>);

/// The instructions that are held.
#[derive(Default)]
struct Held {
    /// What becomes of a message that says what one of them says.
    verdicts: HashMap<Says, Verdict>,
    /// For each role those in force, as places in the order in which a model gets them.
    in_force: HashMap<Role, Vec<usize>>,
}

impl Held {
    fn of(transcript: &Transcript) -> Self {
        let mut held = Self::default();
        let items = transcript.items();
        for item in items.iter().filter(|item| item.is_tombstone()) {
            let says = (item.head.role, item.fingerprint);
            held.verdicts.insert(says, Verdict::Deleted);
        }
        for place in transcript.view() {
            let item = &items[place];
            if let Some(role) = item.head.role.filter(|role| role.instructs()) {
                let says = (Some(role), item.fingerprint);
                held.verdicts.insert(says, resent(place));
                held.in_force.entry(role).or_default().push(place);
            }
        }
        held
    }

    fn verdict(&self, item: &Item, key: FingerprintKey) -> Verdict {
        let says = (item.head().role, Fingerprint::of(key, item));
        self.verdicts.get(&says).copied().unwrap_or(Verdict::Fresh)
    }

    /// From the first new one on, the heading's `messages` of a role take the place of as many
    /// latest ones in force, equal ones among them too, so that the client's order holds. What is
    /// re-sent before them keeps its place, and what finds none is fresh.
    fn supersede(&self, role: Role, messages: &[usize], known: &mut [Known]) {
        let is_new = |at: &usize| known[*at].verdict.is_fresh();
        let first_new = messages.iter().position(is_new).unwrap_or(messages.len());
        let (before, new) = messages.split_at(first_new);
        let kept: HashSet<usize> =
            before.iter().filter_map(|at| known[*at].verdict.held_at()).collect();
        let in_force = self.in_force.get(&role).map_or(&[][..], Vec::as_slice);
        let free = in_force.iter().rev().take_while(|place| !kept.contains(place)).count();
        let are_all_new = new.iter().all(is_new);
        let replaced = if are_all_new || free >= new.len() { free } else { 0 };
        for at in new.iter().take(replaced) {
            known[*at].verdict = Verdict::Supersedes;
        }
    }
}

fn resent(held: usize) -> Verdict {
    Verdict::Resent(Resent { held, rule: Rule::SameInstructions, differs: false })
}
