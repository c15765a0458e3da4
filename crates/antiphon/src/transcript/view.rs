//! The items of a transcript that a model gets.

use std::collections::{HashMap, HashSet};

use super::{HeldItem, Transcript};
use crate::item::{Head, Kind, Role};

impl Transcript {
    /// The positions of the live items in the order for the model: the stored order, except that
    /// replacing instructions take the position of the replaced ones, and that a compaction
    /// replaces the items before it.
    ///
    /// Consecutive replacing messages of one role take the positions of as many latest messages, in
    /// their order; the remaining ones stay at their own positions. A replaced message stays
    /// replaced even if its successor is deleted.
    pub fn view(&self) -> Vec<usize> {
        let is_live = |at: &&usize| !self.items[**at].is_tombstone();
        self.view_after_compaction(self.compactions.iter().rfind(is_live).copied())
    }

    /// The same view, after the compaction at this position instead of the latest one, or without
    /// any. All other compactions are omitted.
    ///
    /// These items before the compaction stay: the user's messages, the current instructions and
    /// other settings of the client. To keep pairs complete, calls with a later output stay too,
    /// with their reasoning. A compaction trigger is omitted unless it is the last item: an earlier
    /// one has had its effect.
    pub fn view_after_compaction(&self, compaction: Option<usize>) -> Vec<usize> {
        let mut view = View::default();
        let items = self.items.iter().enumerate();
        items.for_each(|(position, item)| view.push(position, item));
        view.apply_replacing();
        let bridging = compaction.map(|at| self.find_bridging_calls(at)).unwrap_or_default();
        let mut positions = view.positions;
        positions.retain(|position| {
            let item = &self.items[*position];
            let is_after = compaction.is_none_or(|at| *position >= at);
            let stays = is_after || item.head.survives_compaction() || bridging.contains(position);
            stays
                && !item.is_tombstone()
                && match item.head.kind {
                    Kind::Compaction => compaction == Some(*position),
                    Kind::CompactionTrigger => *position + 1 == self.items.len(),
                    _ => true,
                }
        });
        positions
    }

    /// The calls before a compaction that are answered after it, and their reasoning.
    fn find_bridging_calls(&self, compaction: usize) -> HashSet<usize> {
        let mut bridging = HashSet::new();
        for exchange in self.by_call.iter() {
            for (nth, call) in exchange.calls.iter().enumerate() {
                let is_bridging = *call < compaction
                    && exchange.answer_of(nth).is_some_and(|output| {
                        output > compaction && !self.items[output].is_tombstone()
                    });
                if is_bridging {
                    bridging.insert(*call);
                    bridging.extend(self.reasoning_before(*call));
                }
            }
        }
        bridging
    }

    /// The reasoning that belongs to a model's item.
    fn reasoning_before(&self, position: usize) -> Option<usize> {
        let before = (0..position).rev();
        let mut before = before.take_while(|at| {
            let head = &self.items[*at].head;
            head.is_model_made() && head.kind != Kind::Compaction
        });
        before.find(|at| self.items[*at].head.kind == Kind::Reasoning)
    }
}

impl Head {
    /// Whether the item stays in the view after a later compaction: user messages, instructions,
    /// and settings for all later turns.
    pub fn survives_compaction(&self) -> bool {
        self.kind.is_setting()
            || self.role.is_some_and(|role| role == Role::User || role.instructs())
    }
}

#[derive(Default)]
struct View {
    positions: Vec<usize>,
    /// For each role, the indexes into `positions` of its instructions.
    current: HashMap<Role, Vec<usize>>,
    /// The replacing instructions of the current run of messages, by role.
    replacing: HashMap<Role, Vec<usize>>,
}

impl View {
    fn push(&mut self, position: usize, item: &HeldItem) {
        let Some(role) = item.head.role.filter(|role| role.instructs()) else {
            self.apply_replacing();
            self.positions.push(position);
            return;
        };
        if item.supersedes {
            self.replacing.entry(role).or_default().push(position);
        } else {
            self.append(role, position);
        }
    }

    fn append(&mut self, role: Role, position: usize) {
        let at = self.positions.len();
        self.current.entry(role).or_default().push(at);
        self.positions.push(position);
    }

    /// Puts the replacing instructions at the positions of the replaced ones.
    fn apply_replacing(&mut self) {
        if self.replacing.is_empty() {
            return;
        }
        for role in [Role::System, Role::Developer] {
            let replacing = self.replacing.remove(&role).unwrap_or_default();
            let current = self.current.entry(role).or_default();
            let places = current.split_off(current.len().saturating_sub(replacing.len()));
            places
                .iter()
                .zip(&replacing)
                .for_each(|(at, position)| self.positions[*at] = *position);
            current.extend(&places);
            replacing[places.len()..].iter().for_each(|position| self.append(role, *position));
        }
    }
}
