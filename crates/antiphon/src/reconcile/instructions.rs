//! System and developer messages. Clients put them before every request: equal ones are re-sent,
//! and other ones before the talk take the place of what is held.

use std::collections::HashSet;

use super::{Resent, Rule, Verdict};
use crate::item::{Fingerprint, FingerprintKey, Item, Role};
use crate::transcript::Transcript;

pub(super) fn compare(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
    verdicts: &mut [Verdict],
) {
    let held = held_instructions(transcript);
    let mut matched = HashSet::new();
    for (item, verdict) in without_id(incoming, verdicts) {
        let says = Fingerprint::of(key, item);
        let equal = held
            .iter()
            .rfind(|(_, role, print)| same(item, *role) && *print == says);
        if let Some(&(held, ..)) = equal {
            matched.insert(held);
            *verdict = Verdict::Resent(Resent {
                held,
                rule: Rule::SameInstructions,
                differs: false,
            });
        }
    }
    let heading = incoming.iter().take_while(|item| instructs(item)).count();
    for (item, verdict) in without_id(&incoming[..heading], verdicts) {
        let latest = held.iter().rfind(|(_, role, _)| same(item, *role));
        let is_new = *verdict == Verdict::Fresh;
        if let Some((latest, ..)) = latest.filter(|_| is_new)
            && matched.insert(*latest)
        {
            *verdict = Verdict::Supersedes;
        }
    }
}

/// The instructions in force: position, role, what they say.
fn held_instructions(transcript: &Transcript) -> Vec<(usize, Role, Option<Fingerprint>)> {
    let entry = |position: usize| {
        let item = &transcript.items()[position];
        let role = item.head.role.filter(|role| role.instructs())?;
        Some((position, role, item.fingerprint))
    };
    transcript.view().into_iter().filter_map(entry).collect()
}

fn without_id<'a>(
    incoming: &'a [Item],
    verdicts: &'a mut [Verdict],
) -> impl Iterator<Item = (&'a Item, &'a mut Verdict)> {
    let pairs = incoming.iter().zip(verdicts);
    pairs.filter(|(item, _)| instructs(item) && item.head().id.is_none())
}

fn instructs(item: &Item) -> bool {
    item.head().role.is_some_and(Role::instructs)
}

fn same(item: &Item, role: Role) -> bool {
    item.head().role == Some(role)
}
