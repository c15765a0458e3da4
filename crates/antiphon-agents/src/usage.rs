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
    /// Adds the tokens of a run inside a call.
    pub(crate) fn add_run(&mut self, run: &Self) {
        self.requests += run.requests;
        self.input_tokens += run.input_tokens;
        self.cached_tokens += run.cached_tokens;
        self.output_tokens += run.output_tokens;
        self.reasoning_tokens += run.reasoning_tokens;
    }

    /// The tokens since `earlier`, an earlier count of the same run.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            input_tokens: self.input_tokens - earlier.input_tokens,
            cached_tokens: self.cached_tokens - earlier.cached_tokens,
            output_tokens: self.output_tokens - earlier.output_tokens,
            reasoning_tokens: self.reasoning_tokens - earlier.reasoning_tokens,
        }
    }

    /// Adds the tokens of one answer.
    pub(crate) fn add(&mut self, answer: &model::Usage) {
        self.requests += 1;
        self.input_tokens += answer.input_tokens;
        self.cached_tokens += answer.cached_tokens;
        self.output_tokens += answer.output_tokens;
        self.reasoning_tokens += answer.reasoning_tokens;
    }
}
