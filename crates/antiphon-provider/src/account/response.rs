//! One stored response.

use std::sync::Arc;

use serde_json::Value;

use super::Context;

/// A response as it is stored, and the context that others go on from.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) object: Value,
    pub(crate) context: Arc<Context>,
}

impl Stored {
    pub(crate) fn new(object: Value, context: Context) -> Self {
        Self { object, context: Arc::new(context) }
    }
}
