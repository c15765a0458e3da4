//! The laws of input for a server that keeps the conversation and of which only heads are known,
//! judged as that server would: over what it holds, bodies and all, and what it is sent together.

use antiphon::item::{FingerprintKey, Side};
use antiphon::reconcile::reconcile;
use antiphon::repair::{Policy, Repaired, Unmendable, repair_behind, unmendable};
use antiphon::{HeldItem, Item, ItemId, Transcript};
use proptest::prelude::*;
use serde_json::Value;

use crate::history::{End, History, Numbering, answered, items, turns, user};
use crate::judge::judge;
use crate::mangle::{mangled, mishaps};
use crate::replay::client;

const KEY: FingerprintKey = FingerprintKey::new([9; 16]);

/// A conversation at its provider, and what is new of the next request.
#[derive(Clone, Debug)]
struct Case {
    held: Vec<Item>,
    fresh: Vec<Item>,
}

/// What a provider may hold: a conversation that was broken off somewhere. It takes nothing twice, and
/// no output without its call.
fn kept() -> impl Strategy<Value = Vec<Item>> {
    (turns(), any::<prop::sample::Index>()).prop_map(|(turns, end)| {
        let mut held = History::of(&turns, Numbering::Unique, End::Over).items();
        held.truncate(end.index(held.len() + 1));
        held
    })
}

/// The same, and what a client makes of its next turn: some replay of the whole conversation, and
/// something new.
fn cases() -> impl Strategy<Value = Case> {
    (turns(), any::<prop::sample::Index>(), mishaps()).prop_map(|(turns, end, mishaps)| {
        let whole = History::of(&turns, Numbering::Unique, End::Over).items();
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
        HeldItem::new(id, item, KEY, None).elsewhere()
    });
    held.collect()
}

/// What of `incoming` a provider that holds `held` does not have.
fn fresh(held: &[Item], incoming: &[Item]) -> Vec<Item> {
    let verdicts = reconcile(&ledger(held), incoming, KEY).into_iter();
    let fresh = incoming.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_fresh());
    fresh.map(|(item, _)| item.clone()).collect()
}

impl Case {
    /// What stands in the way of every request at the provider.
    fn unmendable(&self) -> Vec<Unmendable> {
        unmendable(self.held.len(), &[outlines(&self.held), self.fresh.clone()].concat())
    }

    /// The same without it, as after its deletion.
    fn without_unmendable(mut self) -> Self {
        for item in self.unmendable().iter().rev() {
            self.held.remove(item.position);
        }
        self
    }

    /// Whether another call is under the `call_id` of one that is held.
    fn uses_a_call_id_again(&self) -> bool {
        let ledger = ledger(&self.held);
        let mut keys = self.fresh.iter().filter_map(|item| item.head().pairing());
        keys.any(|(side, key)| side == Side::Call && ledger.exchange(&key).is_some())
    }

    fn sent(&self) -> Repaired {
        sent(&outlines(&self.held), &self.fresh)
    }

    /// What the provider judges.
    fn whole(&self) -> Vec<Item> {
        [self.held.clone(), self.sent().items].concat()
    }
}

fn sent(held: &[Item], fresh: &[Item]) -> Repaired {
    repair_behind(held.len(), &[held, fresh].concat(), &Policy::default())
}

proptest! {
    #[test]
    fn once_what_cannot_be_mended_is_deleted_nothing_is_refused(case in cases()) {
        let case = case.without_unmendable();
        prop_assert_eq!(judge(&values(&case.whole())), Ok(()));
    }

    #[test]
    fn a_refusal_is_always_told_before(case in cases()) {
        let is_refused = judge(&values(&case.whole())).is_err();
        prop_assert_eq!(is_refused, !case.unmendable().is_empty());
    }

    #[test]
    fn what_is_deleted_once_leaves_nothing_to_delete(case in cases()) {
        prop_assert_eq!(case.without_unmendable().unmendable(), vec![]);
    }

    #[test]
    fn what_continues_the_conversation_is_sent_as_it_is(
        turns in turns(),
        end in any::<prop::sample::Index>(),
    ) {
        let whole = History::of(&turns, Numbering::Unique, End::Over).items();
        prop_assume!(judge(&values(&whole)).is_ok());
        let (held, rest) = whole.split_at(end.index(whole.len() + 1));
        let sources = (held.len()..whole.len()).map(Some).collect();
        let unchanged = Repaired { items: rest.to_vec(), sources, mends: vec![] };
        prop_assert_eq!(sent(&outlines(held), rest), unchanged);
    }

    #[test]
    fn of_a_replay_only_what_is_new_is_sent(turns in turns(), client in client()) {
        let whole = History::of(&answered(turns), Numbering::Unique, End::Over);
        let held = whole.items();
        prop_assume!(judge(&values(&held)).is_ok());
        let news = user("And now something else.");
        let replay = client.replay(&whole.pieces).into_iter();
        let said = replay.filter_map(|(position, json)| position.map(|_| json));
        let incoming: Vec<Value> = said.chain([news.clone()]).collect();
        let fresh = fresh(&held, &items(&incoming));
        prop_assert_eq!(sent(&outlines(&held), &fresh).items, items([&news]));
    }

    #[test]
    fn what_was_sent_once_is_not_sent_again(case in cases()) {
        let now = case.whole();
        prop_assert_eq!(sent(&outlines(&now), &[]).items, vec![]);
        let again = fresh(&now, &case.sent().items);
        let is_known = |item: &&Item| item.head().id.is_some() || item.head().pairing().is_some();
        prop_assert_eq!(again.iter().filter(is_known).count(), 0);
    }

    #[test]
    fn outlines_tell_what_bodies_tell_where_no_call_id_is_used_again(case in cases()) {
        prop_assume!(!case.uses_a_call_id_again());
        let of_bodies = sent(&case.held, &case.fresh);
        prop_assert_eq!(case.sent(), of_bodies);
    }

    #[test]
    fn every_held_call_is_answered_once(held in kept()) {
        let repaired = sent(&outlines(&held), &[]);
        for item in &repaired.items {
            prop_assert!(antiphon::made_up::is_made_up(item), "{}", item.text());
        }
        prop_assert_eq!(repaired.items.len(), repaired.mends.len());
    }
}
