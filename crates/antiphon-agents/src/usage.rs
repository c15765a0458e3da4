//! The tokens of a run.

use serde::{Deserialize, Serialize};

use crate::model;

/// The tokens that a run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunUsage {
    /// The number of requests to models.
    pub requests: u64,
    /// The tokens of all inputs.
    pub input_tokens: u64,
    /// The input tokens that came from the provider's cache.
    pub cached_tokens: u64,
    /// The tokens of all outputs.
    pub output_tokens: u64,
    /// The output tokens of reasoning.
    pub reasoning_tokens: u64,
}

impl RunUsage {
    /// Adds the tokens of one answer.
    pub(crate) fn add(&mut self, answer: &model::Usage) {
        self.requests += 1;
        self.input_tokens += answer.input_tokens;
        self.cached_tokens += answer.cached_tokens;
        self.output_tokens += answer.output_tokens;
        self.reasoning_tokens += answer.reasoning_tokens;
    }
}
