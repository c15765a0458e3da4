//! The cancellation of a run.

/// The moment at which a cancelled run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelMode {
    /// At once; the current phase is aborted.
    Immediate,
    /// After the current turn: the model has answered, its tools have run, all items are saved.
    AfterTurn,
}

/// A phase of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnPhase {
    /// The model answers.
    Model,
    /// The tools that it called run.
    Tools,
    /// The items of the turn are saved.
    Save,
}

/// The next step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStep {
    /// The next phase of this turn, or the first phase of the next one.
    Enter(TurnPhase),
    /// None: the run has stopped.
    Stop,
}

/// The immediate action of the runner after a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelEffect {
    /// Abort the current phase, drop the queued events, and wake every consumer that waits for an
    /// event: there will be none.
    Unblock,
    /// Nothing now: the turn continues to its end.
    FinishTurn,
    /// Nothing: the run was cancelled before, or has stopped.
    None,
}

/// Whether a run continues.
///
/// ```text
/// Running --after turn--> Finishing --turn saved--> Stopped
///    '------ immediate -------'----- immediate ------^
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cancellation(State);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    Finishing,
    Stopped,
}

impl Cancellation {
    /// Cancels the run.
    pub fn cancel(&mut self, mode: CancelMode) -> CancelEffect {
        match (self.0, mode) {
            (State::Running | State::Finishing, CancelMode::Immediate) => {
                self.0 = State::Stopped;
                CancelEffect::Unblock
            }
            (State::Running, CancelMode::AfterTurn) => {
                self.0 = State::Finishing;
                CancelEffect::FinishTurn
            }
            (State::Finishing | State::Stopped, _) => CancelEffect::None,
        }
    }

    /// Returns the step after a phase that has ended. In [`TurnPhase::Tools`] there may be no calls
    /// to run; a turn is always saved.
    pub fn after(&mut self, phase: TurnPhase) -> RunStep {
        match (self.0, phase) {
            (State::Stopped, _) => RunStep::Stop,
            (_, TurnPhase::Model) => RunStep::Enter(TurnPhase::Tools),
            (_, TurnPhase::Tools) => RunStep::Enter(TurnPhase::Save),
            (State::Running, TurnPhase::Save) => RunStep::Enter(TurnPhase::Model),
            (State::Finishing, TurnPhase::Save) => {
                self.0 = State::Stopped;
                RunStep::Stop
            }
        }
    }
}
