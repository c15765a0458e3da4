//! What a model gets of a transcript.

use std::collections::HashMap;

use super::{HeldItem, Transcript};
use crate::item::Role;

impl Transcript {
    /// The positions of the live items in the order in which a model gets them: as held, except
    /// that instructions which superseded earlier ones stand in their place.
    ///
    /// Superseding messages of one role that came together take the place of as many latest ones,
    /// in their order; what is left of them stays where it came. What was superseded stays so when
    /// its successor is deleted.
    pub fn view(&self) -> Vec<usize> {
        let mut view = View::default();
        let items = self.items.iter().enumerate();
        items.for_each(|(position, item)| view.push(position, item));
        view.settle();
        let mut positions = view.positions;
        positions.retain(|position| !self.items[*position].is_tombstone());
        positions
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
