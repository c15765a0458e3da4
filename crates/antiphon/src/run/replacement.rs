//! Puts a compacted history in the place of the old one, or the old one back.

use crate::item::Item;

/// What the store has to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Take everything out.
    Clear,
    /// Put these in.
    Add(Vec<Item>),
    /// Hold exactly these again, whatever is in it now. A cancellation must not keep it from being done.
    Restore(Vec<Item>),
    /// Nothing: it is over.
    End(Ended),
}

/// How a replacement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The new history is there.
    Replaced,
    /// The old history is there.
    Restored,
}

/// One replacement. What is written meanwhile is kept, whichever history prevails.
///
/// ```text
/// Clearing --done--> Adding ----done----> CatchingUp --done--> Ended(Replaced)
///     |                |                      |
///     '----------------+- failed, cancelled --'
///                      v
///        .---------> Restoring --done--> CatchingUp --done--> Ended(Restored)
///        '- failed, cancelled -'--------------'
/// ```
///
/// Catching up is skipped where nothing was written meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    old: Vec<Item>,
    new: Vec<Item>,
    /// What was written since it began.
    late: Vec<Item>,
    /// How many of those the action under way takes along.
    taken: usize,
    /// How many of those the store holds.
    stored: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Clearing,
    Adding,
    Restoring,
    CatchingUp(Ended),
    Ended(Ended),
}

impl Replacement {
    /// Begins to replace `old`, which is all that the store holds, by `new`.
    pub fn begin(old: Vec<Item>, new: Vec<Item>) -> Self {
        Self { old, new, late: Vec::new(), taken: 0, stored: 0, state: State::Clearing }
    }

    /// Begins the next action: the same one again where it was neither done nor failed. To be asked
    /// after every other method.
    pub fn next_action(&mut self) -> Action {
        self.taken = self.late.len();
        match self.state {
            State::Clearing => Action::Clear,
            State::Adding => Action::Add(followed(&self.new, &self.late)),
            State::Restoring => Action::Restore(followed(&self.old, &self.late)),
            State::CatchingUp(_) => Action::Add(self.late[self.stored..].to_vec()),
            State::Ended(ended) => Action::End(ended),
        }
    }

    /// The action was done.
    pub fn done(&mut self) {
        self.state = match self.state {
            State::Clearing => State::Adding,
            State::Adding => self.caught_up(Ended::Replaced),
            State::Restoring => self.caught_up(Ended::Restored),
            State::CatchingUp(ended) => self.caught_up(ended),
            ended @ State::Ended(_) => ended,
        }
    }

    /// The action failed; it may have been done in part.
    pub fn failed(&mut self) {
        self.give_up();
    }

    /// Whoever waited for it left, and the action was cut off. A second cancellation changes
    /// nothing: restoring goes on.
    pub fn cancelled(&mut self) {
        self.give_up();
    }

    /// Somebody writes to the history meanwhile. The items come back once it is over: then they go
    /// to the store itself.
    pub fn write(&mut self, items: Vec<Item>) -> Result<(), Vec<Item>> {
        if let State::Ended(_) = self.state {
            return Err(items);
        }
        self.late.extend(items);
        Ok(())
    }

    fn caught_up(&mut self, ended: Ended) -> State {
        self.stored = self.taken;
        if self.stored < self.late.len() { State::CatchingUp(ended) } else { State::Ended(ended) }
    }

    fn give_up(&mut self) {
        if !matches!(self.state, State::Ended(_)) {
            self.state = State::Restoring;
        }
    }
}

fn followed(items: &[Item], late: &[Item]) -> Vec<Item> {
    items.iter().chain(late).cloned().collect()
}
