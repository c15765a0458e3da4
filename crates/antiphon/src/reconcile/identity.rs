//! The first rules: the same item id, the same call.

use std::collections::HashMap;

use super::{Resent, Rule, Verdict};
use crate::item::{CallKey, Fingerprint, FingerprintKey, Item, ItemId, Kind, Side};
use crate::transcript::{Exchange, Transcript};

/// Verdicts by id and call; everything else is fresh so far.
pub(super) fn by_id_and_call(
    transcript: &Transcript,
    incoming: &[Item],
    key: FingerprintKey,
) -> Vec<Verdict> {
    let mut matching = Matching {
        transcript,
        incoming,
        key,
        ids: HashMap::new(),
        calls: Counts::of(incoming),
    };
    (0..incoming.len())
        .map(|position| matching.verdict(position))
        .collect()
}

struct Matching<'a> {
    transcript: &'a Transcript,
    incoming: &'a [Item],
    key: FingerprintKey,
    /// Ids that this input has used, with the position of their first use.
    ids: HashMap<&'a ItemId, usize>,
    calls: Counts,
}

impl<'a> Matching<'a> {
    fn verdict(&mut self, position: usize) -> Verdict {
        let item = &self.incoming[position];
        if let Some(id) = &item.head().id {
            if let Some(held) = self.transcript.position(id) {
                self.calls.pass(item);
                return self.under_held_id(item, held);
            }
            if let Some(first) = self.first_use(id, position) {
                self.calls.pass(item);
                return Verdict::Duplicate(first);
            }
        }
        self.by_call(item).unwrap_or(Verdict::Fresh)
    }

    /// The earlier position in this input that has the same id.
    fn first_use(&mut self, id: &'a ItemId, position: usize) -> Option<usize> {
        let first = *self.ids.entry(id).or_insert(position);
        (first != position).then_some(first)
    }

    fn under_held_id(&self, item: &Item, held: usize) -> Verdict {
        let holder = &self.transcript.items()[held];
        if holder.is_tombstone() {
            return Verdict::Deleted;
        }
        if item.head().kind == Kind::ItemReference {
            return Verdict::Resent(Resent {
                held,
                rule: Rule::SameId,
                differs: false,
            });
        }
        let differs = match Fingerprint::of(self.key, item) {
            Some(says) => holder.fingerprint != Some(says),
            None => holder
                .item()
                .is_some_and(|held| !held.says_the_same_as(item)),
        };
        if differs && item.head().kind == Kind::Message && !item.head().is_model_made() {
            return Verdict::FreshUnderUsedId;
        }
        Verdict::Resent(Resent {
            held,
            rule: Rule::SameId,
            differs,
        })
    }

    /// Of `n` items under one key the first ones are those that are held: all but as many as there
    /// are calls still to be answered.
    fn by_call(&mut self, item: &Item) -> Option<Verdict> {
        let (side, key) = item.head().pairing()?;
        let (nth, total) = self.calls.next(side, &key);
        let exchange = self.transcript.exchange(&key)?;
        let held = match side {
            Side::Call => exchange.calls.get(nth).copied(),
            Side::Output => held_output(exchange, nth, total),
        }?;
        let holder = &self.transcript.items()[held];
        let Some(original) = holder.item() else {
            return Some(Verdict::Deleted);
        };
        let differs = !original.says_the_same_as(item);
        Some(Verdict::Resent(Resent {
            held,
            rule: Rule::SameCall,
            differs,
        }))
    }
}

/// The held output that the `nth` of `total` incoming ones repeats; `None` where it answers a call
/// that waits.
fn held_output(exchange: &Exchange, nth: usize, total: usize) -> Option<usize> {
    let fresh = exchange.pending().min(total);
    if nth >= total - fresh && exchange.pending() > 0 {
        return None;
    }
    exchange
        .outputs
        .get(nth)
        .or(exchange.outputs.last())
        .copied()
}

/// How many items of this input share a call key, and how many of them have been looked at.
struct Counts(HashMap<(bool, CallKey), (usize, usize)>);

impl Counts {
    fn of(incoming: &[Item]) -> Self {
        let mut counts: HashMap<_, (usize, usize)> = HashMap::new();
        for (side, key) in incoming.iter().filter_map(|item| item.head().pairing()) {
            counts.entry((side == Side::Call, key)).or_default().1 += 1;
        }
        Self(counts)
    }

    fn next(&mut self, side: Side, key: &CallKey) -> (usize, usize) {
        let count = self.0.entry((side == Side::Call, key.clone())).or_default();
        count.0 += 1;
        (count.0 - 1, count.1)
    }

    /// Counts an item that was decided otherwise.
    fn pass(&mut self, item: &Item) {
        if let Some((side, key)) = item.head().pairing() {
            self.next(side, &key);
        }
    }
}
