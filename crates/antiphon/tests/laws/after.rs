//! Properties of the input for a server that stores the conversation, if only item heads are known
//! here. The judge sees what the server sees: its own items with bodies, followed by the sent
//! items.

use antiphon::item::{FingerprintKey, Side};
use antiphon::reconcile::{Reconciliation, ReplayStyle};
use antiphon::repair::{BlockingItem, Policy, Repaired, blocking_items, repair_after};
use antiphon::{HeldItem, Item, ItemId, Transcript};
use proptest::prelude::*;
use serde_json::Value;

use crate::history::{End, History, Numbering, answered, items, turns, user};
use crate::judge::judge;
use crate::mangle::{mangled, mishaps};
use crate::replay::client;

const KEY: FingerprintKey = FingerprintKey::new([9; 16]);

/// A conversation at its provider, and the new items of the next request.
#[derive(Clone, Debug)]
struct Case {
    held: Vec<Item>,
    fresh: Vec<Item>,
}

/// A conversation at a provider, which may be broken off anywhere. The provider accepts no item
/// twice, and no output without its call.
fn kept() -> impl Strategy<Value = Vec<Item>> {
    (turns(), any::<prop::sample::Index>()).prop_map(|(turns, end)| {
        let mut held = History::from_turns(&turns, Numbering::Unique, End::Over).items();
        held.truncate(end.index(held.len() + 1));
        held
    })
}

/// The same, with a client's next turn: a replay of the whole conversation, and new items.
fn cases() -> impl Strategy<Value = Case> {
    (turns(), any::<prop::sample::Index>(), mishaps()).prop_map(|(turns, end, mishaps)| {
        let whole = History::from_turns(&turns, Numbering::Unique, End::Over).items();
        let held = whole[..end.index(whole.len() + 1)].to_vec();
        let mut sent = values(&whole);
        sent.push(user("And now something else."));
        let fresh = fresh(&held, &items(&mangled(sent, &mishaps)));
        Case { held, fresh }
    })
}

fn values(items: &[Item]) -> Vec<Value> {
    let value = |item: &Item| serde_json::from_str(item.text()).expect("an item is JSON");
    items.iter().map(value).collect()
}

fn outlines(items: &[Item]) -> Vec<Item> {
    ledger(items).items().iter().filter_map(HeldItem::outline).collect()
}

fn ledger(items: &[Item]) -> Transcript {
    let held = items.iter().enumerate().map(|(position, item)| {
        let id = item.head().id.clone().unwrap_or_else(|| ItemId::from(format!("#{position}")));
        HeldItem::new(id, item, KEY, None).without_body()
    });
    held.collect()
}

/// The items of `incoming` that a provider with `held` does not have.
fn fresh(held: &[Item], incoming: &[Item]) -> Vec<Item> {
    fresh_of(held, incoming, ReplayStyle::Unknown)
}

fn fresh_of(held: &[Item], incoming: &[Item], style: ReplayStyle) -> Vec<Item> {
    let verdicts = Reconciliation::new(&ledger(held), incoming, KEY, style).verdicts.into_iter();
    let fresh = incoming.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_fresh());
    fresh.map(|(item, _)| item.clone()).collect()
}

impl Case {
    /// The items that make the provider reject every request.
    fn blocking_items(&self) -> Vec<BlockingItem> {
        blocking_items(self.held.len(), &[outlines(&self.held), self.fresh.clone()].concat())
    }

    /// The same conversation after their deletion.
    fn without_unmendable(mut self) -> Self {
        for item in self.blocking_items().iter().rev() {
            self.held.remove(item.position);
        }
        self
    }

    /// Whether another call has the `call_id` of a held one.
    fn uses_a_call_id_again(&self) -> bool {
        let ledger = ledger(&self.held);
        let mut keys = self.fresh.iter().filter_map(|item| item.head().pairing());
        keys.any(|(side, key)| side == Side::Call && ledger.exchange(&key).is_some())
    }

    fn sent(&self) -> Repaired {
        sent(&outlines(&self.held), &self.fresh)
    }

    /// The items that the provider sees.
    fn whole(&self) -> Vec<Item> {
        [self.held.clone(), self.sent().items].concat()
    }
}

fn sent(held: &[Item], fresh: &[Item]) -> Repaired {
    repair_after(held.len(), &[held, fresh].concat(), &Policy::default())
}

proptest! {
    #[test]
    fn deleting_blocking_items_makes_requests_acceptable(case in cases()) {
        let case = case.without_unmendable();
        prop_assert_eq!(judge(&values(&case.whole())), Ok(()));
    }

    #[test]
    fn rejection_is_always_predicted(case in cases()) {
        let is_refused = judge(&values(&case.whole())).is_err();
        prop_assert_eq!(is_refused, !case.blocking_items().is_empty());
    }

    #[test]
    fn deletion_leaves_nothing_to_delete(case in cases()) {
        prop_assert_eq!(case.without_unmendable().blocking_items(), vec![]);
    }

    #[test]
    fn valid_continuation_is_sent_unchanged(
        turns in turns(),
        end in any::<prop::sample::Index>(),
    ) {
        let whole = History::from_turns(&turns, Numbering::Unique, End::Over).items();
        prop_assume!(judge(&values(&whole)).is_ok());
        let (held, rest) = whole.split_at(end.index(whole.len() + 1));
        let sources = (held.len()..whole.len()).map(Some).collect();
        let unchanged = Repaired { items: rest.to_vec(), sources, repairs: vec![] };
        prop_assert_eq!(sent(&outlines(held), rest), unchanged);
    }

    #[test]
    fn replay_sends_only_new_items(turns in turns(), client in client()) {
        let whole = History::from_turns(&answered(turns), Numbering::Unique, End::Over);
        let held = whole.items();
        prop_assume!(judge(&values(&held)).is_ok());
        let news = user("And now something else.");
        let replay = client.replay(&whole.pieces).into_iter();
        let message = replay.filter_map(|(position, json)| position.map(|_| json));
        let incoming: Vec<Value> = message.chain([news.clone()]).collect();
        let fresh = fresh_of(&held, &items(&incoming), client.style());
        prop_assert_eq!(sent(&outlines(&held), &fresh).items, items([&news]));
    }

    #[test]
    fn sent_items_are_not_sent_again(case in cases()) {
        let now = case.whole();
        prop_assert_eq!(sent(&outlines(&now), &[]).items, vec![]);
        let again = fresh(&now, &case.sent().items);
        let is_known = |item: &&Item| item.head().id.is_some() || item.head().pairing().is_some();
        prop_assert_eq!(again.iter().filter(is_known).count(), 0);
    }

    #[test]
    fn heads_give_the_same_result_as_bodies(case in cases()) {
        prop_assume!(!case.uses_a_call_id_again());
        let of_bodies = sent(&case.held, &case.fresh);
        prop_assert_eq!(case.sent(), of_bodies);
    }

    #[test]
    fn held_calls_are_answered_once(held in kept()) {
        let repaired = sent(&outlines(&held), &[]);
        for item in &repaired.items {
            prop_assert!(antiphon::placeholder::is_placeholder_item(item), "{}", item.text());
        }
        prop_assert_eq!(repaired.items.len(), repaired.repairs.len());
    }
}
