//! What a model was given.

use std::sync::Arc;

use super::Held;

/// A turn as it is stored: what stood before it, its input and its output.
///
/// It holds on to what stood before, so a response that is deleted is gone by its id only: whoever
/// went on from it keeps its context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) before: Before,
    pub(crate) input: Vec<Arc<Held>>,
    pub(crate) output: Vec<Arc<Held>>,
}

/// What stands before a turn.
#[derive(Clone, Debug)]
pub(crate) enum Before {
    Nothing,
    /// The turn of the previous response, and all before it.
    Response(Arc<Context>),
    /// What the conversation held when the turn began.
    Conversation(Vec<Arc<Held>>),
}

impl Before {
    /// Its items, in order.
    pub(crate) fn items(&self) -> Vec<Arc<Held>> {
        let mut backwards = Vec::new();
        let mut before = self;
        while let Self::Response(context) = before {
            backwards.extend(context.output.iter().rev().cloned());
            backwards.extend(context.input.iter().rev().cloned());
            before = &context.before;
        }
        if let Self::Conversation(items) = before {
            backwards.extend(items.iter().rev().cloned());
        }
        backwards.reverse();
        backwards
    }
}
