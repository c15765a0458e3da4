//! An accepted turn with its answer.

use serde_json::Value;

use super::{RenderedAnswer, Turn};
use crate::OnAbort;
use crate::account::Accounts;

/// An accepted turn whose answer is rendered but not delivered yet. It ends exactly once.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) turn: Turn,
    pub(crate) rendered: RenderedAnswer,
}

impl Run {
    /// Ends the turn with its answer. A failed turn stores nothing.
    pub(crate) fn finish(self, accounts: &mut Accounts) {
        match self.rendered.has_failed() {
            true => self.turn.discard(accounts),
            false => self.turn.store(self.rendered.response, self.rendered.output, accounts),
        }
    }

    /// Ends the turn without storing anything.
    pub(crate) fn discard(self, accounts: &mut Accounts) {
        self.turn.discard(accounts);
    }

    /// The unfinished response with this status.
    pub(crate) fn unfinished_response(&self, status: &str) -> Value {
        let mut response = self.rendered.opened.clone();
        response["status"] = status.into();
        response
    }

    /// Ends the turn because its caller disconnected after these items were done.
    pub(crate) fn abandon(self, done: Vec<Value>, on_abort: OnAbort, accounts: &mut Accounts) {
        match on_abort {
            OnAbort::StoreWhole => self.finish(accounts),
            OnAbort::StoreNothing => self.turn.discard(accounts),
            OnAbort::StorePart => {
                let mut response = self.unfinished_response("incomplete");
                response["output"] = done.clone().into();
                self.turn.store(response, done, accounts);
            }
        }
    }
}
