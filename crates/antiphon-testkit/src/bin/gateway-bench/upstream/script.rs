//! The script that the upstream follows until it gets another.

use serde::{Deserialize, Serialize};

/// The form and the timing of each answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Script {
    /// The number of deltas.
    pub(crate) deltas: usize,
    /// The pause before each event, in microseconds.
    pub(crate) pause_micros: u64,
    /// Whether the odd turns of a dialogue get a function call.
    pub(crate) tools: bool,
    /// Streams stop after so many events until the next script.
    pub(crate) hold_after: Option<usize>,
}

impl Script {
    /// Answers of so many deltas, without pauses.
    pub(crate) const fn deltas(deltas: usize) -> Self {
        Self { deltas, pause_micros: 0, tools: false, hold_after: None }
    }
}
