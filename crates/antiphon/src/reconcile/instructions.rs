//! Rule 3: system and developer messages. Clients put them at the start of each request. Equal ones
//! are re-sent; changed ones at the start replace the stored ones.

use std::collections::{HashMap, HashSet};

use super::assessment::Assessment;
use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::Transcript;

pub(super) fn compare(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    assessments: &mut [Assessment],
) {
    if !incoming.iter().any(instructs) {
        return;
    }
    let held = StoredInstructions::new(transcript);
    for (item, assessment) in incoming.iter().zip(&mut *assessments) {
        if instructs(item) && assessment.verdict == Verdict::Fresh {
            assessment.verdict = held.verdict(item, key);
        }
    }
    let leading = incoming.iter().take_while(|item| instructs(item)).count();
    for role in [Role::System, Role::Developer] {
        let of_role = |at: &usize| incoming[*at].head().role == Some(role);
        let messages: Vec<usize> = (0..leading).filter(of_role).collect();
        held.mark_replacements(role, &messages, assessments);
    }
}

fn instructs(item: &Item) -> bool {
    item.head().role.is_some_and(Role::instructs)
}

type RoleAndContent = (Option<Role>, Option<Fingerprint>);

/// The stored instructions.
#[derive(Default)]
struct StoredInstructions {
    /// For each role and content the verdict on an equal message.
    verdicts: HashMap<RoleAndContent, Verdict>,
    /// For each role the positions of those in force, in the order in which the model gets them.
    in_force: HashMap<Role, Vec<usize>>,
}

impl StoredInstructions {
    fn new(transcript: &Transcript) -> Self {
        let mut held = Self::default();
        let items = transcript.items();
        for item in items.iter().filter(|item| item.is_tombstone()) {
            let content = (item.head.role, item.fingerprint);
            held.verdicts.insert(content, Verdict::Deleted);
        }
        for place in transcript.view() {
            let item = &items[place];
            if let Some(role) = item.head.role.filter(|role| role.instructs()) {
                let content = (Some(role), item.fingerprint);
                held.verdicts.insert(content, resent(place));
                held.in_force.entry(role).or_default().push(place);
            }
        }
        held
    }

    fn verdict(&self, item: &Item, key: FingerprintKey) -> Verdict {
        let content = (item.head().role, Fingerprint::from_item(key, item));
        self.verdicts.get(&content).copied().unwrap_or(Verdict::Fresh)
    }

    /// Marks the `messages` of one role at the start of the input. From the first new one on, each
    /// replaces one of the latest stored messages in force, even an equal one, so that the client's
    /// order holds. Re-sent messages before the first new one keep their place, and a message with
    /// nothing left to replace is fresh.
    fn mark_replacements(&self, role: Role, messages: &[usize], assessments: &mut [Assessment]) {
        let is_new = |at: &usize| assessments[*at].verdict.is_fresh();
        let first_new = messages.iter().position(is_new).unwrap_or(messages.len());
        let (before, new) = messages.split_at(first_new);
        let unchanged: HashSet<usize> =
            before.iter().filter_map(|at| assessments[*at].verdict.held_at()).collect();
        let in_force = self.in_force.get(&role).map_or(&[][..], Vec::as_slice);
        let free = in_force.iter().rev().take_while(|place| !unchanged.contains(place)).count();
        let are_all_new = new.iter().all(is_new);
        let replaced = if are_all_new || free >= new.len() { free } else { 0 };
        for at in new.iter().take(replaced) {
            assessments[*at].verdict = Verdict::Replaces;
        }
    }
}

fn resent(held: usize) -> Verdict {
    Verdict::Resent(Resent { held, rule: Rule::SameInstructions, differs: false })
}
