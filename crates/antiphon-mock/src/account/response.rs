//! A stored response, and the context that later responses continue.

use std::sync::Arc;

use serde_json::Value;

use super::StoredItem;

/// A stored response and the context that later responses continue.
#[derive(Debug)]
pub(crate) struct StoredResponse {
    pub(crate) object: Value,
    pub(crate) context: Arc<Context>,
}

impl StoredResponse {
    pub(crate) fn new(object: Value, context: Context) -> Self {
        Self { object, context: Arc::new(context) }
    }
}

/// A stored turn: the items before it, its input and its output.
///
/// A context owns the context before it. Deleting a response removes only its id: responses that
/// continue it keep their context.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) before: Before,
    pub(crate) input: Vec<Arc<StoredItem>>,
    pub(crate) output: Vec<Arc<StoredItem>>,
}

/// The items before a turn.
#[derive(Clone, Debug)]
pub(crate) enum Before {
    Nothing,
    /// The turn of the previous response and everything before it.
    Response(Arc<Context>),
    /// The items of the conversation when the turn began.
    Conversation(Vec<Arc<StoredItem>>),
}

impl Before {
    /// The items, oldest first.
    pub(crate) fn items(&self) -> Vec<Arc<StoredItem>> {
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
