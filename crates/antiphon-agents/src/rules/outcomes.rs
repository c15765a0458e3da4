//! The outcomes of tools.

use antiphon::item::Item;

/// The outcome of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has an output.
    Output(Item),
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
