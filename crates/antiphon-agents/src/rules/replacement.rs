//! Replaces a stored history with a compacted one, and restores the old one after a failure.

use antiphon::item::Item;

/// The next action of the store.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplacementAction {
    /// Delete all items.
    Clear,
    /// Add these items.
    Add(Vec<Item>),
    /// Replace the current content, which is unknown, by exactly these items. A cancellation must
    /// not prevent this.
    Restore(Vec<Item>),
    /// Nothing: the replacement has ended.
    End(ReplacementEnd),
}

/// The end of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacementEnd {
    /// The store has the new history.
    Replaced,
    /// The store has the old history.
    Restored,
}

/// One replacement. Items that are written during it are stored with either history.
///
/// ```text
/// Clearing --done--> Adding ----done----> CatchingUp --done--> ReplacementEnd(Replaced)
///     |                |                      |
///     '----------------+- failed, cancelled --'
///                      v
///        .---------> Restoring --done--> CatchingUp --done--> ReplacementEnd(Restored)
///        '- failed, cancelled -'--------------'
/// ```
///
/// `CatchingUp` is skipped if nothing was written in the meantime.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    old: Vec<Item>,
    new: Vec<Item>,
    /// The items written since the start.
    late: Vec<Item>,
    /// The number of `late` items in the current action.
    taken: usize,
    /// The number of `late` items that the store has.
    stored: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Clearing,
    Adding,
    Restoring,
    CatchingUp(ReplacementEnd),
    ReplacementEnd(ReplacementEnd),
}

impl Replacement {
    /// Starts to replace `old`, the complete content of the store, by `new`.
    pub fn begin(old: Vec<Item>, new: Vec<Item>) -> Self {
        Self { old, new, late: Vec::new(), taken: 0, stored: 0, state: State::Clearing }
    }

    /// Starts the next action, or repeats the current one if it was neither done nor failed. Call
    /// it after every other method.
    pub fn next_action(&mut self) -> ReplacementAction {
        self.taken = self.late.len();
        match self.state {
            State::Clearing => ReplacementAction::Clear,
            State::Adding => ReplacementAction::Add(followed(&self.new, &self.late)),
            State::Restoring => ReplacementAction::Restore(followed(&self.old, &self.late)),
            State::CatchingUp(_) => ReplacementAction::Add(self.late[self.stored..].to_vec()),
            State::ReplacementEnd(ended) => ReplacementAction::End(ended),
        }
    }

    /// Records that the action was done.
    pub fn done(&mut self) {
        self.state = match self.state {
            State::Clearing => State::Adding,
            State::Adding => self.caught_up(ReplacementEnd::Replaced),
            State::Restoring => self.caught_up(ReplacementEnd::Restored),
            State::CatchingUp(ended) => self.caught_up(ended),
            ended @ State::ReplacementEnd(_) => ended,
        }
    }

    /// Records that the action failed; it may have been done in part.
    pub fn failed(&mut self) {
        self.give_up();
    }

    /// Records that the caller cancelled the replacement and interrupted the action. A second
    /// cancellation changes nothing: restoring continues.
    pub fn cancelled(&mut self) {
        self.give_up();
    }

    /// Takes items that are written during the replacement. Returns them as the error after its
    /// end: then the caller writes them to the store.
    pub fn write(&mut self, items: Vec<Item>) -> Result<(), Vec<Item>> {
        if let State::ReplacementEnd(_) = self.state {
            return Err(items);
        }
        self.late.extend(items);
        Ok(())
    }

    fn caught_up(&mut self, ended: ReplacementEnd) -> State {
        self.stored = self.taken;
        if self.stored < self.late.len() {
            State::CatchingUp(ended)
        } else {
            State::ReplacementEnd(ended)
        }
    }

    fn give_up(&mut self) {
        if !matches!(self.state, State::ReplacementEnd(_)) {
            self.state = State::Restoring;
        }
    }
}

fn followed(items: &[Item], late: &[Item]) -> Vec<Item> {
    items.iter().chain(late).cloned().collect()
}
