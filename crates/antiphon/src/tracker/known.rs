//! The items that the server is known to have.

use std::collections::HashSet;

use super::identity::{ReasoningIds, server_id};
use crate::item::{CallKey, Exchange, Exchanges, Head, Item, ItemId, Side};

/// The heads of the server's items, in its order, with calls matched to outputs.
///
/// An item suppresses another by its id, or by the call that it answers; never by its content.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) extent: Coverage,
    heads: Vec<Head>,
    ids: HashSet<ItemId>,
    exchanges: Exchanges,
    /// Hashes of reasoning whose ids are removed.
    reasoning: HashSet<u64>,
}

/// Whether all of the server's items are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Coverage {
    /// Only the items sent and received are known; the server may have more.
    #[default]
    Part,
    /// All items are known: the server listed them.
    Whole,
}

impl Known {
    /// The record of a server that has exactly `items`.
    pub(super) fn whole(items: &[Item], policy: ReasoningIds) -> Self {
        let mut known = Self { extent: Coverage::Whole, ..Self::default() };
        known.observe(items, policy);
        known
    }

    /// Records items of the server. An item whose id is known is recorded once.
    pub(super) fn observe<'a>(
        &mut self,
        items: impl IntoIterator<Item = &'a Item>,
        policy: ReasoningIds,
    ) {
        for item in items {
            if !self.has_id(item.head()) {
                self.note(item.head().clone());
            }
            self.reasoning.extend(policy.hash_without_id(item));
        }
    }

    /// Records one head.
    pub(super) fn note(&mut self, head: Head) {
        self.ids.extend(server_id(&head).cloned());
        self.exchanges.push(self.heads.len(), &head);
        self.heads.push(head);
    }

    pub(super) fn heads(&self) -> &[Head] {
        &self.heads
    }

    pub(super) fn reasoning(&self) -> impl Iterator<Item = u64> {
        self.reasoning.iter().copied()
    }

    pub(super) fn note_reasoning(&mut self, traces: impl IntoIterator<Item = u64>) {
        self.reasoning.extend(traces);
    }

    pub(super) fn exchange(&self, key: &CallKey) -> Option<&Exchange> {
        self.exchanges.get(key)
    }

    pub(super) fn has_id(&self, head: &Head) -> bool {
        server_id(head).is_some_and(|id| self.ids.contains(id))
    }

    /// Whether the server has this reasoning, whose id is removed.
    pub(super) fn has_reasoning(&self, item: &Item, policy: ReasoningIds) -> bool {
        policy.hash_without_id(item).is_some_and(|trace| self.reasoning.contains(&trace))
    }

    /// Whether the server certainly has the item: it has the id, or it has outputs for all calls
    /// that the item could answer.
    pub(super) fn has(&self, item: &Item, policy: ReasoningIds) -> bool {
        let is_answered = |key: &CallKey| {
            let exchange = self.exchange(key);
            exchange.is_some_and(|held| held.pending() == 0 && !held.outputs.is_empty())
        };
        self.has_id(item.head())
            || self.has_reasoning(item, policy)
            || matches!(item.head().pairing(), Some((Side::Output, key)) if is_answered(&key))
    }

    /// The heads of the unanswered calls with this key, in the order in which outputs answer them.
    pub(super) fn waiting(&self, key: &CallKey) -> impl Iterator<Item = &Head> {
        let positions = self.exchange(key).into_iter().flat_map(Exchange::waiting);
        positions.map(|position| &self.heads[position])
    }

    /// Whether the call with this id is answered; `None` if the server does not have it.
    pub(super) fn is_answered(&self, key: &CallKey, id: &ItemId) -> Option<bool> {
        let exchange = self.exchange(key)?;
        let is_call = |position: &usize| self.heads[*position].id.as_ref() == Some(id);
        let nth = exchange.calls.iter().position(is_call)?;
        Some(exchange.answer_of(nth).is_some())
    }

    /// The heads of the unanswered calls, in order, except calls that a provider allows to stay
    /// open.
    pub(super) fn unanswered(&self) -> Vec<&Head> {
        let mut positions: Vec<_> = self.exchanges.iter().flat_map(Exchange::waiting).collect();
        positions.sort_unstable();
        let heads = positions.into_iter().map(|position| &self.heads[position]);
        heads.filter(|head| head.kind.must_be_answered()).collect()
    }
}
