//! A turn whose answer is known and not yet told.

use serde_json::Value;

use super::{Made, Turn};
use crate::OnAbort;
use crate::world::World;

/// An accepted turn on its way to its one end.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) turn: Turn,
    pub(crate) made: Made,
}

impl Run {
    /// It ends as its answer does. A failed turn leaves nothing.
    pub(crate) fn finish(self, world: &mut World) {
        match self.made.has_failed() {
            true => self.turn.leave(world),
            false => self.turn.keep(self.made.response, self.made.output, world),
        }
    }

    /// It ends without anything left of it.
    pub(crate) fn drop_from(self, world: &mut World) {
        self.turn.leave(world);
    }

    /// The response as it is before its end, with this status.
    pub(crate) fn standing(&self, status: &str) -> Value {
        let mut response = self.made.opened.clone();
        response["status"] = status.into();
        response
    }

    /// Its caller left when these items were done.
    pub(crate) fn abandon(self, done: Vec<Value>, world: &mut World) {
        match world.on_abort {
            OnAbort::Whole => self.finish(world),
            OnAbort::Nothing => self.turn.leave(world),
            OnAbort::Part => {
                let mut response = self.standing("incomplete");
                response["output"] = done.clone().into();
                self.turn.keep(response, done, world);
            }
        }
    }
}
