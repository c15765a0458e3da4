//! What a model gets of a transcript.

use std::collections::{HashMap, HashSet};

use super::{HeldItem, Transcript};
use crate::item::{Head, Kind, Role};

impl Transcript {
    /// The positions of the live items in the order in which a model gets them: as held, except
    /// that instructions which superseded earlier ones stand in their place, and that a compaction
    /// stands for what was said before it.
    ///
    /// Superseding messages of one role that came together take the place of as many latest ones,
    /// in their order; what is left of them stays where it came. What was superseded stays so when
    /// its successor is deleted.
    pub fn view(&self) -> Vec<usize> {
        let is_compaction = |item: &HeldItem| item.is_live(&Kind::Compaction);
        self.view_behind(self.items.iter().rposition(is_compaction))
    }

    /// The same view behind another compaction than the latest: the one at this position, or none.
    /// All others are left out.
    ///
    /// Of what stands before the compaction there stay the user's messages, the instructions in force
    /// and what else its caller set; and, so that no half of a pair is left, calls that are answered behind it, with the
    /// reasoning that they were made with. A compaction trigger is left out unless it is the last
    /// item: what it asked for has happened.
    pub fn view_behind(&self, compaction: Option<usize>) -> Vec<usize> {
        let mut view = View::default();
        let items = self.items.iter().enumerate();
        items.for_each(|(position, item)| view.push(position, item));
        view.settle();
        let bridging = compaction.map(|at| self.bridging(at)).unwrap_or_default();
        let mut positions = view.positions;
        positions.retain(|position| {
            let item = &self.items[*position];
            let is_behind = compaction.is_none_or(|at| *position >= at);
            let stays =
                is_behind || item.head.stays_through_compaction() || bridging.contains(position);
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

    /// The calls before a compaction that are answered behind it, and the reasoning that they were
    /// made with.
    fn bridging(&self, compaction: usize) -> HashSet<usize> {
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

    /// The reasoning that a model's item was made with.
    fn reasoning_before(&self, position: usize) -> Option<usize> {
        let before = (0..position).rev();
        let mut before = before.take_while(|at| {
            let head = &self.items[*at].head;
            head.is_model_made() && head.kind != Kind::Compaction
        });
        before.find(|at| self.items[*at].head.kind == Kind::Reasoning)
    }
}

impl HeldItem {
    fn is_live(&self, kind: &Kind) -> bool {
        self.head.kind == *kind && !self.is_tombstone()
    }
}

impl Head {
    /// Whether a compaction behind the item leaves it where it is: what the user said, and what its
    /// caller set for all that follows.
    pub fn stays_through_compaction(&self) -> bool {
        let is_set = matches!(self.kind, Kind::AdditionalTools | Kind::ConfigurationUpdate);
        is_set || self.role.is_some_and(|role| role == Role::User || role.instructs())
    }
}

#[derive(Default)]
struct View {
    positions: Vec<usize>,
    /// For each role the indexes into `positions` of its instructions.
    in_force: HashMap<Role, Vec<usize>>,
    /// The instructions that are just coming and supersede, by role.
    coming: HashMap<Role, Vec<usize>>,
}

impl View {
    fn push(&mut self, position: usize, item: &HeldItem) {
        let Some(role) = item.head.role.filter(|role| role.instructs()) else {
            self.settle();
            self.positions.push(position);
            return;
        };
        if item.supersedes {
            self.coming.entry(role).or_default().push(position);
        } else {
            self.append(role, position);
        }
    }

    fn append(&mut self, role: Role, position: usize) {
        let at = self.positions.len();
        self.in_force.entry(role).or_default().push(at);
        self.positions.push(position);
    }

    /// Puts the instructions that came in the place of those that they supersede.
    fn settle(&mut self) {
        if self.coming.is_empty() {
            return;
        }
        for role in [Role::System, Role::Developer] {
            let coming = self.coming.remove(&role).unwrap_or_default();
            let in_force = self.in_force.entry(role).or_default();
            let places = in_force.split_off(in_force.len().saturating_sub(coming.len()));
            places.iter().zip(&coming).for_each(|(at, position)| self.positions[*at] = *position);
            in_force.extend(&places);
            coming[places.len()..].iter().for_each(|position| self.append(role, *position));
        }
    }
}
