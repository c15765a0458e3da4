//! The outcomes of tools.

use antiphon::item::Item;
use serde::{Deserialize, Serialize};

use crate::item_json;

/// The outcome of a tool. A workflow engine records it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It has an output.
    Output(#[serde(with = "item_json")] Item),
    /// It failed, and the model reads this text as its output.
    Failed(String),
    /// It failed in a way that ends the run.
    Raised(String),
    /// A guardrail ends the run.
    Tripped {
        /// The name of the guardrail.
        guardrail: String,
        /// The text that the conversation has in place of the output.
        text: String,
    },
    /// It was cancelled.
    Cancelled,
}
