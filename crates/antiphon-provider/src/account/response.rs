//! One stored response.

use std::sync::Arc;

use serde_json::Value;

use super::Context;

/// A response as it is stored, and what it is worth to those who go on from it.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) object: Value,
    pub(crate) standing: Standing,
}

/// Whether a response can be gone on from.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    /// It has ended, with this context.
    Ended(Arc<Context>),
    /// It is made in the background, or was and came to nothing.
    Pending,
}

impl Stored {
    pub(crate) fn ended(object: Value, context: Context) -> Self {
        Self { object, standing: Standing::Ended(Arc::new(context)) }
    }

    /// The context to go on from.
    pub(crate) fn context(&self) -> Option<&Arc<Context>> {
        match &self.standing {
            Standing::Ended(context) => Some(context),
            Standing::Pending => None,
        }
    }
}
