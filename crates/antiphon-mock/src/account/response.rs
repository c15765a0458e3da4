//! One stored response.

use std::sync::Arc;

use serde_json::Value;

use super::Context;

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
