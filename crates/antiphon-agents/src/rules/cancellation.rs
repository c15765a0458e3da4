//! The cancellation of a run.

/// The moment at which a cancelled run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelMode {
    /// At once: the request to the model and the tools are aborted.
    Immediate,
    /// After the current turn: the model has answered, its tools have run, all items are saved.
    AfterTurn,
}
