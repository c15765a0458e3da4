//! What the clients share: conversations to write to, responses to go on from.

use std::collections::VecDeque;

use crate::client::{calls_in, messages_in};
use crate::ledger::Row;
use crate::mark::Mark;

/// A conversation that several clients write to.
#[derive(Debug, Default)]
pub(crate) struct Open {
    /// Its id.
    pub(crate) id: String,
    /// Calls that nobody answered yet, those of a turn together.
    pub(crate) waiting: Vec<Vec<String>>,
    /// Messages that may be deleted: id and mark.
    messages: Vec<(String, Mark)>,
}

/// A response that a chain may go on from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tip {
    /// Its id.
    pub(crate) id: String,
    /// The calls that its turn made.
    pub(crate) calls: Vec<String>,
    /// How many turns there are before.
    pub(crate) depth: usize,
}

/// How many turns a chain has at the most.
const DEPTH: usize = 12;
/// How many tips are kept.
const TIPS: usize = 24;

/// What the clients share.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// The conversations.
    pub(crate) open: Vec<Open>,
    tips: VecDeque<Tip>,
}

impl Scene {
    /// There is a new conversation.
    pub(crate) fn opened(&mut self, id: String) {
        self.open.push(Open { id, ..Open::default() });
    }

    /// A response that a chain may go on from: most often one of the last.
    pub(crate) fn tip(&self, rng: &mut fastrand::Rng) -> Option<Tip> {
        let newest = self.tips.len().checked_sub(1)?;
        let back = rng.usize(..TIPS).min(rng.usize(..TIPS)).min(newest);
        self.tips.get(newest - back).cloned()
    }

    /// A chain has got further.
    pub(crate) fn reached(&mut self, tip: Tip) {
        if tip.depth < DEPTH {
            self.tips.push_back(tip);
        }
        if self.tips.len() > TIPS {
            self.tips.pop_front();
        }
    }

    /// A conversation got these items.
    pub(crate) fn noted(&mut self, id: &str, rows: &[Row]) {
        let Some(open) = self.open.iter_mut().find(|open| open.id == id) else { return };
        let calls = calls_in(rows);
        if !calls.is_empty() {
            open.waiting.push(calls);
        }
        let messages = messages_in(rows).map(|(id, mark)| (id.to_owned(), mark));
        open.messages.extend(messages);
    }

    /// A message to delete: its conversation, its id, its mark. It is not picked again.
    pub(crate) fn deletable(&mut self, rng: &mut fastrand::Rng) -> Option<(String, String, Mark)> {
        let index = rng.usize(..self.open.len());
        let open = &mut self.open[index];
        if open.messages.is_empty() {
            return None;
        }
        let (item, mark) = open.messages.swap_remove(rng.usize(..open.messages.len()));
        Some((open.id.clone(), item, mark))
    }
}
